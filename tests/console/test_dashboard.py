"""The dashboard: sums of today, 7 and 30 days; numbers without JavaScript."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest
from conftest import Person
from harness.console import BASE, Browser
from harness.procs import eventually
from harness.stack import Stack


def test_a_request_is_in_every_sum(root: Browser, stack: Stack) -> None:
    account = stack.account()
    before = root.api("GET", "dashboard?days=1").json["total"]
    answer = account.chat()
    assert answer.status == 200

    def counted() -> bool:
        return root.api("GET", "dashboard").json["total"]["requests"] > before["requests"]

    eventually("the hourly sums have it", counted, 15)
    for days in (1, 7, 30):
        shown = root.api("GET", f"dashboard?days={days}").json
        assert shown["span_days"] == days
        assert shown["total"]["quota"] > before["quota"]
        assert sum(point["requests"] for point in shown["points"]) == shown["total"]["requests"]
        assert sum(point["quota"] for point in shown["points"]) == shown["total"]["quota"]
        assert "m-ref" in [row["label"] for row in shown["models"]]
        assert "main" in [row["label"] for row in shown["channels"]]
    assert len(root.api("GET", "dashboard?days=7").json["points"]) in (7, 8)


@pytest.mark.parametrize("days", ["", "1", "7", "30"])
def test_the_page_has_the_numbers_and_the_data_of_the_chart(root: Browser, days: str) -> None:
    page = root.visit(BASE + f"dashboard.cgi?days={days}")
    assert page.status == 200
    assert "chart.js" in page.text and "<script>" not in page.text
    found = re.search(r'data-chart="([^"]*)"', page.text)
    assert found is not None
    points = json.loads(html.unescape(found[1]))
    assert points and set(points[0]) >= {"label", "requests", "quota"}
    assert "By model" in page.text and "Output tokens" in page.text


def test_other_spans_are_refused(root: Browser) -> None:
    assert root.api("GET", "dashboard?days=365").status == 422
    page = root.visit(BASE + "dashboard.cgi?days=365")
    assert page.status == 422 and "7 days" in page.text


def test_the_dashboard_is_not_for_ordinary_users(people: Callable[..., Person]) -> None:
    assert people().browser.api("GET", "dashboard").status == 403
    assert people("admin").browser.api("GET", "dashboard").status == 200
