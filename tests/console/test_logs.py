"""The request log: filters, one request opened to the last line of its bill, CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from conftest import Person
from harness.console import BASE, Browser
from harness.procs import eventually
from harness.stack import Account, Stack, chat_body


@dataclass
class Served:
    account: Account
    good: str
    bad: str


@pytest.fixture(scope="module")
def served(stack: Stack) -> Served:
    """An account with one request that was served and one that failed everywhere."""
    account = stack.account()
    good = account.chat()
    assert good.status == 200
    model = stack.new_model()
    stack.channel(f"down-{model}", [model])
    stack.wait_model(account, model)
    stack.simulator.behave(model, "fail")
    bad = account.chat(model)
    assert bad.status >= 500
    ids = [answer.header("x-request-id") for answer in (good, bad)]
    stack.simulator.behave(model, "ok")
    stack.site.record(ids[0])
    stack.site.record(ids[1])
    return Served(account, ids[0], ids[1])


def ids(root: Browser, query: str) -> list[str]:
    reply = root.api("GET", f"logs?{query}")
    assert reply.status == 200, reply.text
    return [row["request_id"] for row in reply.json["rows"]]


def test_requests_are_found_by_filters(root: Browser, served: Served) -> None:
    name = served.account.name
    assert served.good in ids(root, f"user={name}")
    assert served.bad in ids(root, f"user={name}&errors_only=true")
    assert served.good not in ids(root, f"user={name}&errors_only=true")
    assert ids(root, f"request_id={served.good}") == [served.good]
    assert ids(root, f"request_id={served.good.replace('-', '')}") == [served.good]
    assert served.good in ids(root, f"token_id={served.account.token_id}&status=200")
    assert ids(root, f"user={name}&fallback_only=true") == []
    assert ids(root, f"user={name}&model=m-ref") == [served.good]
    assert ids(root, f"user={name}&to=2020-01-01T00:00:00Z") == []
    (row,) = root.api("GET", f"logs?request_id={served.good}").json["rows"]
    assert row["username"] == name and row["channel_name"] == "main"


@pytest.mark.parametrize(
    ("query", "field"),
    [("user=nobody-here", "user"), ("status=many", "status"), ("request_id=x", "request_id"),
     ("from=soon", "from")],
)  # fmt: skip
def test_bad_filters_name_their_field(root: Browser, query: str, field: str) -> None:
    reply = root.api("GET", f"logs?{query}")
    assert reply.status == 422, reply.text
    assert field in reply.json["error"]["fields"]
    page = root.visit(BASE + f"logs.cgi?{query}")
    assert page.status == 422 and query.split("=")[1] in page.text


def test_the_list_is_paged(root: Browser, served: Served) -> None:
    query = f"user={served.account.name}&limit=1"
    first = root.api("GET", f"logs?{query}").json
    assert len(first["rows"]) == 1 and first["next"]
    second = root.api("GET", f"logs?{query}&after={first['next']}").json
    both = {first["rows"][0]["request_id"], second["rows"][0]["request_id"]}
    assert both == {served.good, served.bad}
    page = root.visit(BASE + f"logs.cgi?{query}")
    assert page.status == 200 and 'rel="next"' in page.text


def test_a_request_is_opened_to_the_last_line_of_its_bill(root: Browser, served: Served) -> None:
    shown = root.api("GET", f"logs/{served.good}").json
    assert shown["username"] == served.account.name
    assert shown["request"]["bill_json"]["lines"]
    page = root.visit(BASE + f"logs.cgi/{served.good}")
    assert page.status == 200
    for text in (served.good, "m-ref", "Ratio of the group", "input", "output", " USD ("):
        assert text in page.text, text
    page = root.visit(BASE + f"logs.cgi/{served.bad}")
    for text in ("Attempts", "500", "server_error", "retry"):
        assert text in page.text, re.sub(r"\s+", " ", page.text)
    assert root.visit(BASE + "logs.cgi/01919191-0000-7000-8000-000000000000").status == 404
    assert root.visit(BASE + "logs.cgi/nonsense").status == 404


def test_requests_as_csv(root: Browser, served: Served) -> None:
    reply = root.get(BASE + f"logs.cgi/csv?user={served.account.name}")
    assert reply.status == 200
    assert (reply.header("Content-Type") or "").startswith("text/csv")
    assert "requests.csv" in (reply.header("Content-Disposition") or "")
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert {row["request_id"] for row in rows} == {served.good, served.bad}


def test_usage_as_csv(root: Browser, served: Served) -> None:
    reply = root.get(BASE + f"logs.cgi/usage?user={served.account.name}")
    assert reply.status == 200 and "usage.csv" in (reply.header("Content-Disposition") or "")
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert rows and {row["username"] for row in rows} == {served.account.name}
    (row,) = [row for row in rows if row["served_model"] == "m-ref"]
    assert row["requests"] == "1" and row["channel_name"] == "main" and row["provider"] == "openai"
    assert int(row["quota"]) > 0
    empty = root.get(BASE + "logs.cgi/usage?from=2020-01-01&to=2020-01-02").text
    assert empty.startswith("day,user_id,") and empty.count("\n") == 1
    for query in ("from=2020-01-01", "from=2020-01-02&to=2020-01-01", "from=x"):
        assert root.api("GET", f"logs/usage?{query}").status == 422


def test_csv_of_more_than_a_page(root: Browser, stack: Stack, served: Served) -> None:
    count = 1203
    stack.site.log_sql(
        "INSERT INTO request_log (request_id, created_at, user_id, token_name, status) SELECT "
        "UNHEX(LPAD(HEX(seq + 900000), 32, '0')), NOW(6) - INTERVAL seq SECOND, 424242, "
        f"'=1+1', 200 FROM seq_1_to_{count}"
    )
    stack.site.main_sql("INSERT INTO users (id, username) VALUES (424242, 'many-rows')")
    try:
        reply = root.get(BASE + "logs.cgi/csv?user=many-rows")
        rows = list(csv.DictReader(io.StringIO(reply.text)))
        assert len(rows) == count and len({row["request_id"] for row in rows}) == count
        assert rows[0]["token_name"] == "'=1+1", "a spreadsheet would run it"
    finally:
        stack.site.log_sql("DELETE FROM request_log WHERE user_id = 424242")
        stack.site.main_sql("DELETE FROM users WHERE id = 424242")


@pytest.mark.books_differ("a user of the console's")
def test_ones_own_requests_without_what_is_the_operators(
    stack: Stack, root: Browser, people: Callable[..., Person], served: Served
) -> None:
    user = people()
    token = stack.site.ctl("token", "create", "--user", user.name)["token"]
    root.api("POST", f"users/{user.id}/credit", {"amount": "1", "reason": "test"})
    headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
    answer = served.account.post(chat_body(), headers)
    assert answer.status == 200
    stack.site.record(answer.header("x-request-id"))
    shown = user.browser.api("GET", "account/requests").json
    assert [row["request_id"] for row in shown["rows"]] == [answer.header("x-request-id")]
    for name in ("channel_id", "channel_name", "upstream_model", "attempts", "cost_unbilled"):
        assert name not in shown["rows"][0]
    other = user.browser.api("GET", f"account/requests?request_id={served.good}")
    assert other.status == 200 and other.json["rows"] == []
    page = user.browser.visit(BASE + "account.cgi/requests")
    assert page.status == 200 and answer.header("x-request-id") in page.text


def test_the_log_is_not_for_ordinary_users(people: Callable[..., Person], served: Served) -> None:
    user = people()
    for path in ("logs", "logs/csv", "logs/usage", f"logs/{served.good}"):
        assert user.browser.api("GET", path).status == 403


@pytest.mark.complains("log_down")
def test_a_log_database_that_is_away_is_said_so(root: Browser, stack: Stack) -> None:
    conf = stack.site.conf.read_text()
    away = re.sub(r"/tg_log\?socket=[^\"]*", "/tg_log?socket=/nonexistent", conf)
    assert away != conf
    try:
        stack.site.conf.write_text(away)
        page = root.visit(BASE + "logs.cgi")
        assert page.status == 503 and "log database" in page.text
        assert root.visit(BASE + "users.cgi").status == 200
    finally:
        stack.site.conf.write_text(conf)
    eventually("the log is there again", lambda: root.visit(BASE + "logs.cgi").status == 200)
