"""The keys of a channel: many in one paste, caps, states, order; through pages and the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conftest import Person
from harness.console import BASE, Browser
from harness.stack import Stack
from test_channels import wish  # noqa: F401

Wish = Callable[..., dict[str, Any]]


@pytest.fixture
def channel(root: Browser, wish: Wish) -> int:  # noqa: F811
    made = root.api("POST", "channels", wish(key="sk-the-first-of-all-0000"))
    assert made.status == 201, made.text
    return int(made.json["id"])


def rows(root: Browser, channel: int) -> list[dict[str, Any]]:
    return root.api("GET", f"channels/{channel}/keys").json["keys"]["rows"]


def test_five_hundred_keys_in_one_paste_and_those_that_came_twice_are_told(
    root: Browser, stack: Stack, channel: int
) -> None:
    keys = [f"sk-pasted-number-{number:04d}" for number in range(500)]
    pasted = [*keys[:100], keys[7], "", *keys[100:], "  sk-the-first-of-all-0000  "]
    root.visit(BASE + f"channels.cgi/{channel}/keys")
    page = root.submit(
        "/keys", keys="\r\n".join(pasted), cap_unit="requests", cap="50", reset_hour="3",
        reset_zone="America/Los_Angeles",
    )  # fmt: skip
    assert page.status == 200, page.text[:500]
    assert "500 are in. 2 are left out" in page.text and "number 101, 502" in page.text
    assert "sk-pasted" not in page.text
    there = rows(root, channel)
    assert [row["position"] for row in there] == list(range(501))
    assert {row["cap_unit"] for row in there[1:]} == {"requests"} and there[0]["cap_unit"] == ""
    assert {(r["cap_value"], r["reset_hour"], r["reset_zone"]) for r in there[1:]} == {
        (50, 3, "America/Los_Angeles")
    }
    states = root.api("GET", f"channels/{channel}").json["states"]
    assert states == [{"state": "active", "count": 501}]
    again = root.api("POST", f"channels/{channel}/keys", {"keys": keys[:3] + ["sk-new-one-9999"]})
    assert again.status == 201
    assert again.json["added"] == 1 and again.json["same"] == [1, 2, 3]
    stored = stack.site.main_sql(f"SELECT * FROM channel_keys WHERE channel_id = {channel}")
    logged = stack.site.main_sql("SELECT * FROM audit_log ORDER BY id DESC LIMIT 9")
    assert "sk-pasted" not in str(stored) + str(logged)
    only = root.api("POST", f"channels/{channel}/keys", {"keys": keys[:2], "replace": True})
    assert only.json["added"] == 2
    assert [row["hint"] for row in rows(root, channel)] == ["0000", "0001"]


def test_a_cap_is_changed_and_taken_away(root: Browser, stack: Stack, channel: int) -> None:
    (key,) = rows(root, channel)
    path = f"channels/{channel}/keys/{key['id']}"
    root.visit(BASE + f"channels.cgi/{channel}/keys/{key['id']}")
    page = root.submit(
        f"/keys/{key['id']}", cap_unit="usd", cap="12.5", reset_hour="7", reset_zone="Europe/Berlin"
    )
    assert page.status == 200 and "The cap is set." in page.text
    (row,) = rows(root, channel)
    assert (row["cap_unit"], row["cap_value"], row["reset_hour"]) == ("usd", 6250000, 7)
    form = root.visit(BASE + f"channels.cgi/{channel}/keys/{key['id']}").text
    assert 'value="12.5"' in form and 'value="Europe/Berlin"' in form
    assert root.api("GET", path).json["cap_value"] == 6250000
    for sent, field in (
        ({"cap_unit": "tokens", "cap": "1.5"}, "cap"),
        ({"cap_unit": "tokens", "cap": ""}, "cap"),
        ({"cap_unit": "tokens", "cap": "0"}, "cap"),
        ({"cap": "5"}, "cap_unit"),
        ({"cap_unit": "apples", "cap": "5"}, "cap_unit"),
        ({"cap_unit": "tokens", "cap": "5", "reset_hour": 24}, "reset_hour"),
        ({"cap_unit": "tokens", "cap": "5", "reset_zone": "Mars/Olympus"}, "reset_zone"),
    ):
        refused = root.api("POST", path, sent)
        assert refused.status == 422, sent
        assert field in refused.json["error"]["fields"], refused.text
    done = root.api("POST", path, {"cap_unit": ""})
    assert done.status == 200 and done.json["cap_unit"] == ""
    for bad in ("999999", "x"):
        assert root.api("GET", f"channels/{channel}/keys/{bad}").status == 404
        assert root.api("POST", f"channels/{channel}/keys/{bad}", {}).status == 404


def test_a_suspension_is_cleared_and_the_order_is_set(
    root: Browser, stack: Stack, channel: int
) -> None:
    (key,) = rows(root, channel)
    stack.site.main_sql(
        "UPDATE channel_keys SET state = 'suspended', state_reason = 'bad_key', state_event = 5"
        f" WHERE id = {key['id']}"
    )
    page = root.visit(BASE + f"channels.cgi/{channel}/keys")
    assert "suspended" in page.text and "bad_key" in page.text and "Use it again" in page.text
    page = root.submit("/keys/set", state="active")
    assert page.status == 200 and "The key is changed." in page.text
    (row,) = rows(root, channel)
    assert row["state"] == "active" and row["state_reason"] == ""
    for mode, stored in (("polling", "polling"), ("random", "random"), ("order", "")):
        done = root.api("POST", f"channels/{channel}/keys/mode", {"key_mode": mode})
        assert done.status == 200 and done.json["key_mode"] == mode
        assert root.api("GET", f"channels/{channel}").json["key_mode"] == stored
    assert root.api("POST", f"channels/{channel}/keys/mode", {"key_mode": "x"}).status == 422


def test_a_console_of_before_the_rotation_seals_with_the_new_key(
    root: Browser, stack: Stack, channel: int
) -> None:
    version = int(stack.site.ctl("rotate-master-key")["key_version"])
    added = root.api("POST", f"channels/{channel}/keys", {"keys": "sk-after-the-rotation-1"})
    assert added.status == 201, added.text
    assert {row["key_version"] for row in rows(root, channel)} == {version}


def test_who_may_not_put_keys_sees_them_only(
    people: Callable[..., Person], root: Browser, channel: int
) -> None:
    admin = people("admin")
    deny = {"permission": "channel:key_write", "effect": "deny"}
    assert root.api("POST", f"users/{admin.id}/permissions", deny).status == 200
    person = admin.browser
    page = person.visit(BASE + f"channels.cgi/{channel}/keys")
    assert page.status == 200 and "…0000" in page.text
    assert "Add keys" not in page.text and "Delete" not in page.text
    (key,) = rows(root, channel)
    for path, body in (
        ("keys", {"keys": "sk-x"}),
        ("keys/set", {"key_id": key["id"], "state": "deleted"}),
        ("keys/mode", {"key_mode": "random"}),
        (f"keys/{key['id']}", {"cap_unit": ""}),
    ):
        assert person.api("POST", f"channels/{channel}/{path}", body).status == 403, path
