"""What people type and what lies in the tables is text: every field of every form, every story.

Each form of the console is filled with markup in all its fields, sent, and looked at in Chromium
when it comes back; then so are rows whose texts no form would have let in (test_browser.py has the
lists).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ADMIN, PASSWORD
from harness.console import ConsoleApache
from harness.stack import Stack
from harness.visitor import Visitor, chromium
from test_browser import PAGES, PAYLOADS, page_path
from test_matrix import Cast, cast, name_of  # noqa: F401

# Wrong passwords count: after some of them nobody logs in any more.
NOT_SENT = {"account/password"}
FILL = """([number, payload]) => {
  const form = document.querySelectorAll('main form')[number];
  let filled = 0;
  for (const field of form.querySelectorAll('input, textarea, select')) {
    if (['hidden', 'submit', 'checkbox'].includes(field.type))
      continue;
    if (field.localName === 'select') {
      const option = document.createElement('option');
      option.value = payload;
      field.append(option);
    } else if (field.localName === 'input') {
      field.type = 'text';
    }
    field.value = payload;
    filled++;
  }
  return filled;
}"""


@pytest.fixture(scope="module")
def visitor(console: ConsoleApache) -> Iterator[Visitor]:
    with chromium() as browser:
        visitor = Visitor(browser, console.port)
        visitor.log_in(ADMIN, PASSWORD)
        yield visitor
        visitor.close()


@pytest.fixture(autouse=True)
def no_problems(visitor: Visitor) -> Iterator[None]:
    visitor.problems.clear()
    yield
    # A number or a moment that is none is not shown by the browser's own field, which says so.
    assert [p for p in visitor.problems if "The specified value" not in p] == []


def send(visitor: Visitor, number: int, payload: str) -> bool:
    """Fills and sends the form of that number; False: nobody types anything in it."""
    if visitor.page.evaluate(FILL, [number, payload]) == 0:
        return False
    with visitor.page.expect_navigation() as navigation:
        visitor.page.evaluate("n => document.querySelectorAll('main form')[n].submit()", number)
    visitor.read(navigation.value)
    assert "Log out" in visitor.page.content(), "still logged in"
    return True


@pytest.mark.parametrize("route", PAGES, ids=name_of)
def test_what_was_typed_is_shown_as_text(
    cast: Cast, visitor: Visitor, route: dict[str, Any]  # noqa: F811
) -> None:
    if route["area"] + route["pattern"] in NOT_SENT:
        pytest.skip("wrong passwords count")
    path = page_path(cast, route)
    visitor.go(path)
    count = visitor.page.locator("main form").count()
    for number in range(count):
        for payload in PAYLOADS[::3]:
            if not send(visitor, number, payload):
                break
            visitor.go(path)


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def detail(payload: str) -> tuple[str, str, str]:
    """What the gateway writes down of a request, with the payload for every text."""
    attempt = {"number": 1, "channel_id": 1, "key_hint": payload, "upstream_model": payload,
               "status": 500, "action": payload, "error_code": payload, "reason": payload,
               "maybe_accepted": True, "elapsed_us": 1}  # fmt: skip
    line = {"what": payload, "tokens": 1, "price": payload, "quota": payload,
            "expression": payload}  # fmt: skip
    bill = {"ratio": payload, "lines": [line], "exact": payload, "tier": payload, "quota": 1}
    diagnostic = {"code": payload, "field": payload, "text": payload, "message": payload}
    return json.dumps([attempt]), json.dumps(bill), json.dumps([diagnostic])


@pytest.mark.parametrize("payload", PAYLOADS)
def test_what_lies_in_the_tables_is_text(
    cast: Cast, visitor: Visitor, stack: Stack, payload: str  # noqa: F811
) -> None:
    text, short = quoted(payload), quoted(payload[:64])
    channel, token = cast.objects["channels"], cast.objects["token"]
    request = f"UNHEX(REPLACE('{cast.objects['logs/{name}']}', '-', ''))"
    attempts, bill, diagnostics = map(quoted, detail(payload))
    for statement in (
        f"UPDATE tokens SET name = {short}, team = {short}, hint = LEFT({text}, 4), model_limits ="
        f" JSON_ARRAY({text}), allow_addresses = JSON_ARRAY({text}) WHERE id = {token}",
        f"UPDATE channels SET tag = {short}, organisation = {text}, status_reason = {text},"
        f" proxy = {text}, test_model = {text}, models = JSON_ARRAY({text}),"
        f" groups_list = JSON_ARRAY({text}), model_mapping = JSON_OBJECT({text}, {text}),"
        f" timeouts = JSON_OBJECT({text}, {text}), base_url = {text} WHERE id = {channel}",
        f"UPDATE channel_keys SET state_reason = {text}, hint = LEFT({text}, 4), state ="
        f" LEFT({text}, 16) WHERE channel_id = {channel}",
        f"UPDATE console_sessions SET device = {text} WHERE user_id = 1",
        f"UPDATE pats SET name = {short}, last_address = LEFT({text}, 45) WHERE user_id = 1",
    ):
        stack.site.main_sql(statement)
    stack.site.log_sql(
        f"UPDATE request_log SET client_request_id = {text}, node = {short}, endpoint = {short},"
        f" token_name = {short}, team = {short}, address = LEFT({text}, 45), error_code ="
        f" LEFT({text}, 48), end_reason = LEFT({text}, 24), requested_model = {text},"
        f" served_model = {text}, upstream_model = {text}, group_name = {short}, funding ="
        f" LEFT({text}, 32), usage_source = LEFT({text}, 24) WHERE request_id = {request}"
    )
    stack.site.log_sql(
        "REPLACE INTO request_detail (request_id, created_at, attempts_json, bill_json,"
        " diagnostics_json) VALUES"
        f" ({request}, '1970-01-01 00:00:01', {attempts}, {bill}, {diagnostics})"
    )
    shown = 0
    for path in ("tokens.cgi", f"tokens.cgi/{token}", "channels.cgi", f"channels.cgi/{channel}",
                 f"channels.cgi/{channel}/test", "account.cgi/sessions", "account.cgi/pats",
                 f"logs.cgi/{cast.objects['logs/{name}']}", "logs.cgi"):  # fmt: skip
        response = visitor.go("/tollgate/" + path)
        assert response.status == 200, path
        shown += payload[:20] in visitor.page.inner_text("main")
    assert shown >= 4, "the payload was not even shown"
