"""Channels: picked from the vendors, made, changed, tested live; their keys, which nobody sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conftest import Person, numbers
from harness.console import BASE, Browser
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Stack


@pytest.fixture
def wish(stack: Stack) -> Callable[..., dict[str, Any]]:
    """What a channel to the simulator needs."""

    def make(**more: Any) -> dict[str, Any]:
        number = next(numbers)
        return {
            "name": f"channel-{number}",
            "base_url": stack.simulator.base_url,
            "key": KEYS[0],
            "models": [f"m-console-{number}"],
            "groups_list": ["default"],
            **more,
        }

    return make


def test_a_vendor_fills_the_form(root: Browser) -> None:
    page = root.visit(BASE + "channels.cgi/new")
    assert "OpenRouter" in page.text and "provider=deepseek" in page.text
    root.visit(BASE + "channels.cgi/new?provider=deepseek")
    fields = root.form("channels.cgi")["fields"]
    assert fields["base_url"] == "https://api.deepseek.com/v1"
    assert fields["models"].split() == ["deepseek-chat", "deepseek-reasoner"]
    assert fields["groups_list"] == "default" and fields["weight"] == "1"
    words = [row["word"] for row in root.api("GET", "channels/new").json["providers"]]
    assert "openai" in words and len(set(words)) == len(words)
    assert all(
        row["base_url"].startswith("http") or row["word"] == "other"
        for row in root.api("GET", "channels/new").json["providers"]
    )


@pytest.mark.books_differ  # nobody is billed for a test
def test_a_channel_is_made_tested_and_serves(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    model = stack.new_model()
    account = stack.account()
    root.visit(BASE + "channels.cgi/new?provider=other")
    sent = wish(models=model)
    page = root.submit("channels.cgi", **{**sent, "groups_list": "default"})
    assert page.status == 200 and "The channel is made." in page.text
    id = root.where.rpartition("/")[2]
    root.visit(BASE + f"channels.cgi/{id}/test")
    assert root.form("/test")["fields"]["model"] == model
    page = root.submit("/test")
    assert page.status == 200 and "It works." in page.text, page.text
    assert " ms</dd>" in page.text and "USD by the price" in page.text
    assert account.chat(model).status == 200
    assert root.api("GET", f"channels?model={model}").json["rows"][0]["name"] == sent["name"]


def test_a_test_says_what_came_and_what_it_costs(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    model = stack.new_model()
    id = root.api("POST", "channels", wish(models=[model])).json["id"]
    result = root.api("POST", f"channels/{id}/test", {"model": model}).json["result"]
    assert result["ok"] is True and result["status"] == 200 and result["model"] == model
    assert result["answer"] and result["ms"] >= 0
    usage = {"prompt_tokens": result["input"], "completion_tokens": result["output"]}
    assert result["cost_quota"] == bill(usage, M_REF)
    unpriced = root.api("POST", "channels", wish()).json["id"]
    result = root.api("POST", f"channels/{unpriced}/test").json["result"]
    assert result["ok"] is True and "cost_quota" not in result
    wrong = root.api("POST", "channels", wish(key="sk-not-a-key-of-this-place")).json["id"]
    result = root.api("POST", f"channels/{wrong}/test").json["result"]
    assert result["ok"] is False and result["status"] == 401
    assert "sk-not-a-key" not in str(result)
    assert root.api("POST", "channels/999999/test").status == 404


@pytest.mark.books_differ  # nobody is billed for a test
@pytest.mark.complains(r"effects: channel \d+ is (disabled|enabled)")
def test_all_are_tested_and_their_state_is_shown(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    sent = wish()
    id = root.api("POST", "channels", sent).json["id"]
    root.visit(BASE + "channels.cgi")
    page = root.submit("channels.cgi/test")
    assert page.status == 200 and "being tested" in page.text

    def shown() -> dict[str, Any]:
        return next(
            row for row in root.api("GET", "channels?limit=200").json["rows"] if row["id"] == id
        )

    eventually("it is tested", lambda: shown()["tested_at"], 30)
    assert shown()["test_code"] == "" and shown()["test_ms"] >= 0 and shown()["resting"] == 0
    stack.site.main_sql(
        "INSERT INTO breaker_states VALUES"
        f" ('another', {id}, 'm-x', 'open', UTC_TIMESTAMP(6) + INTERVAL 9 SECOND,"
        " UTC_TIMESTAMP(6)),"
        f" ('gone', {id}, 'm-x', 'open', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 DAY)"
    )
    assert shown()["resting"] == 1
    rests = root.api("GET", f"channels/{id}").json["breakers"]
    assert [(row["node"], row["model"], row["state"]) for row in rests] == [
        ("another", "m-x", "open")
    ]
    page = root.visit(BASE + f"channels.cgi/{id}")
    assert "another lets it rest" in page.text and "rests" in root.visit(BASE + "channels.cgi").text
    stack.site.main_sql(f"DELETE FROM breaker_states WHERE channel_id = {id}")


def test_a_balance_is_asked_for(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    id = root.api("POST", "channels", wish()).json["id"]
    assert root.api("POST", f"channels/{id}/balance").json["result"]["code"] == "balance_not_told"
    changed = root.api("POST", f"channels/{id}", {"balance_from": "billing"})
    assert changed.status == 200, changed.text
    stack.simulator.settings(limit_usd=3)
    root.visit(BASE + f"channels.cgi/{id}")
    page = root.submit("/balance")
    assert "The balance is up to date." in page.text and "3 USD" in page.text
    assert root.api("GET", f"channels/{id}").json["balance_usd"] == "3"
    wrong = root.api("POST", f"channels/{id}", {"balance_from": "nowhere"})
    assert wrong.status == 422


def test_whether_it_may_be_disabled_by_itself(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    id = root.api("POST", "channels", wish()).json["id"]
    assert root.api("GET", f"channels/{id}").json["auto_disable"] is True
    assert root.api("POST", f"channels/{id}", {"auto_disable": False}).status == 200
    assert root.api("GET", f"channels/{id}").json["auto_disable"] is False
    root.visit(BASE + f"channels.cgi/{id}")
    assert root.submit(f"channels.cgi/{id}", auto_disable="1").status == 200
    assert root.api("GET", f"channels/{id}").json["auto_disable"] is True
    assert root.api("POST", f"channels/{id}", {"tag": "x"}).status == 200
    assert root.api("GET", f"channels/{id}").json["auto_disable"] is True


def test_what_was_saved_just_now_is_tested(
    root: Browser, wish: Callable[..., dict[str, Any]]
) -> None:
    id = root.api("POST", "channels", wish()).json["id"]
    for key, works in ((KEYS[0], True), ("sk-another-wrong-one", False)) * 3:
        assert root.api("POST", f"channels/{id}/keys", {"keys": key, "replace": True}).status == 201
        result = root.api("POST", f"channels/{id}/test").json["result"]
        assert result["ok"] is works, result


def test_keys_are_sealed_and_never_shown(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    secret, second = "sk-first-secret-of-all-1234", "sk-second-secret-of-all-5678"
    made = root.api("POST", "channels", wish(key=secret))
    assert made.status == 201 and secret not in made.text
    id = made.json["id"]
    root.visit(BASE + f"channels.cgi/{id}/keys")
    page = root.submit("/keys", keys=f" {second} ")
    assert page.status == 200 and "The key is in." in page.text
    pages = [page.text, root.api("GET", f"channels/{id}").text, root.api("GET", "channels").text]
    pages += [root.visit(BASE + path).text for path in ("channels.cgi", f"channels.cgi/{id}")]
    pages.append(str(stack.site.main_sql("SELECT * FROM audit_log ORDER BY id DESC LIMIT 20")))
    pages.append(str(stack.site.main_sql(f"SELECT * FROM channel_keys WHERE channel_id = {id}")))
    for text in pages:
        assert "secret-of-all" not in text
    keys = root.api("GET", f"channels/{id}").json["keys"]["rows"]
    assert [key["hint"] for key in keys] == ["1234", "5678"]
    root.visit(BASE + f"channels.cgi/{id}/keys")
    wrong = root.post("keys", {"csrf": root.csrf, "keys": "sk-w\try"})
    assert wrong.status == 422 and "sk-w" not in wrong.text
    for state in ("disabled", "active", "deleted"):
        path = f"channels/{id}/keys/set"
        done = root.api("POST", path, {"key_id": keys[0]["id"], "state": state})
        assert done.status == 200 and done.json["state"] == state
    left = root.api("GET", f"channels/{id}").json["keys"]["rows"]
    assert [key["hint"] for key in left] == ["5678"]
    other = root.api("POST", "channels", wish()).json["id"]
    done = root.api("POST", f"channels/{other}/keys/set",
                    {"key_id": left[0]["id"], "state": "deleted"})  # fmt: skip
    assert done.status == 404


def test_changes_work_within_two_seconds(
    root: Browser, stack: Stack, wish: Callable[..., dict[str, Any]]
) -> None:
    model, other = stack.new_model(), stack.new_model()
    account = stack.account()
    id = root.api("POST", "channels", wish(models=[model])).json["id"]
    stack.wait_model(account, model)

    def soon(what: str, status: int, name: str = model) -> None:
        eventually(what, lambda: all(account.chat(name).status == status for _ in range(4)), 6)

    root.visit(BASE + f"channels.cgi/{id}")
    assert "The channel is off." in root.submit("/status").text
    soon("a channel that is off serves nobody", 404)
    assert root.api("POST", f"channels/{id}/status", {"status": "enabled"}).status == 200
    soon("it serves again", 200)
    change = {"models": [model, other], "model_mapping": {other: "m-ref"}}
    assert root.api("POST", f"channels/{id}", change).status == 200
    soon("a new model is served", 200, other)
    assert stack.simulator.requests()[-1].json["model"] == "m-ref"
    assert root.api("POST", f"channels/{id}", {"models": [model]}).status == 200
    soon("a model that was taken away is not", 404, other)


@pytest.mark.parametrize(
    ("field", "text", "why"),
    [
        ("name", "", "this is needed"),
        ("base_url", "ftp://x", "http"),
        ("base_url", "http://10.1.2.3/v1", "10.1.2.3"),
        ("base_url", "https://user:pw@api.example.com/v1", ""),
        ("models", "two words", "is no model name"),
        ("models", "same\nsame", "is there twice"),
        ("models", "", "this is needed"),
        ("groups_list", "no-such-group", "is no group"),
        ("priority", "high", "no whole number"),
        ("weight", "-1", "a number from"),
        ("model_mapping", "nonsense", "is not written like a = b"),
        ("model_mapping", "a = b\na = c", "is there twice"),
        ("model_mapping", "not-listed = b", "is none of the channel"),
        ("model_mapping", '{"a": 1}', "is no text"),
        ("model_mapping", '{"a":', ""),
        ("timeouts", "connect = soon", "is no duration"),
        ("timeouts", "total = 5s", "is none of connect"),
        ("proxy", "proxy.example:3128", "begins with"),
    ],
)
def test_wrong_fields_are_named_and_kept(
    root: Browser, wish: Callable[..., dict[str, Any]], field: str, text: str, why: str
) -> None:
    sent = {**wish(), field: text}
    made = root.api("POST", "channels", sent)
    assert made.status == 422, made.text
    assert list(made.json["error"]["fields"]) == [field]
    assert why in made.json["error"]["fields"][field]
    root.visit(BASE + "channels.cgi/new?provider=other")
    flat = {key: "\n".join(v) if isinstance(v, list) else v for key, v in sent.items()}
    page = root.submit("channels.cgi", **flat)
    assert page.status == 422 and KEYS[0] not in page.text
    fields = root.form("channels.cgi")["fields"]
    for name in ("name", "base_url", "models", "model_mapping", "timeouts", "proxy"):
        assert fields[name].strip() == flat.get(name, ""), name


def test_the_form_of_a_channel_changes_nothing_by_itself(
    root: Browser, wish: Callable[..., dict[str, Any]]
) -> None:
    sent = wish(proxy="http://me:secret-word@proxy.example:3128", priority=-3, weight=7,
                timeouts={"connect": "2s", "idle": "90s"}, organisation="org")  # fmt: skip
    sent["model_mapping"] = {sent["models"][0]: "other"}
    made = root.api("POST", "channels", sent)
    assert made.status == 201, made.text
    path = f"channels/{made.json['id']}"
    before = root.api("GET", path).json
    assert before["model_mapping"] == sent["model_mapping"] and before["priority"] == -3
    assert "secret-word" not in str(before) and "***@proxy.example" in before["proxy"]
    root.visit(BASE + path.replace("/", ".cgi/"))
    assert "secret-word" not in root.last.text
    assert root.submit(path.replace("/", ".cgi/")).status == 200
    assert root.api("GET", path).json == before
    again = root.api("POST", path, {"proxy": before["proxy"].replace("3128", "3129")})
    assert again.status == 422 and "proxy" in again.json["error"]["fields"]
    assert root.api("POST", path, {"name": before["name"]}).status == 200
    emptied = {"proxy": "", "model_mapping": "", "timeouts": {}}
    assert root.api("POST", path, emptied).status == 200
    after = root.api("GET", path).json
    assert after["proxy"] == "" and after["model_mapping"] is None and after["timeouts"] is None


def test_names_are_taken_once(root: Browser, wish: Callable[..., dict[str, Any]]) -> None:
    sent = wish()
    assert root.api("POST", "channels", sent).status == 201
    again = root.api("POST", "channels", sent)
    assert again.status == 422 and "name" in again.json["error"]["fields"]


def test_who_may_not_write_keys_cannot_send_them_elsewhere(
    root: Browser, people: Callable[..., Person], wish: Callable[..., dict[str, Any]]
) -> None:
    admin = people("admin")
    id = root.api("POST", "channels", wish()).json["id"]
    deny = {"permission": "channel:key_write", "effect": "deny"}
    assert root.api("POST", f"users/{admin.id}/permissions", deny).status == 200
    api = admin.browser.api
    assert api("POST", f"channels/{id}", {"weight": 2}).status == 200
    for change in ({"base_url": "https://elsewhere.example/v1"}, {"proxy": "http://x.example"}):
        assert api("POST", f"channels/{id}", change).status == 422, change
    assert api("POST", "channels", wish()).status == 403
    assert api("POST", f"channels/{id}/keys", {"keys": "x" * 20}).status == 403
