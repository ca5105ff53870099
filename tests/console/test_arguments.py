"""What a query without "=" says to a CGI program: the web server makes arguments of it."""

from __future__ import annotations

import re

import pytest
from harness.console import BASE, Browser


@pytest.mark.parametrize(
    "query",
    ["0.1.0", "--routes", "--help", "--listen+tcp:127.0.0.1:1", "--children+9", "-", "a+b", ""],
)
def test_a_query_is_no_argument(browser: Browser, query: str) -> None:
    answer = browser.get(BASE + "login.cgi?" + query)
    assert answer.status == 200 and "Password" in answer.text


def test_everything_that_a_page_names_is_there(root: Browser) -> None:
    page = root.visit(BASE + "prices.cgi").text
    named = re.findall(r'(?:src|href)="([^"]*assets\.cgi[^"]*)"', page)
    assert len(named) >= 4
    for address in named:
        answer = root.get(address)
        assert answer.status == 200 and answer.body, address
        kind = answer.header("content-type") or ""
        assert kind.startswith(("text/css", "text/javascript"))
