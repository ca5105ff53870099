"""What goes up and what comes down: bytes, lengths, names, headers, malformed requests."""

from __future__ import annotations

import gzip
import json

import pytest
from harness.checks import is_error, is_ok, spliced, whole_stream
from harness.fcgi import FcgiClient
from harness.money import M_REF, bill
from harness.procs import eventually
from harness.simclient import KEYS
from harness.stack import Account, Stack, chat_body

ODD = (
    b'{ "messages" : [ {"role":"user", "content":"caf\\u00e9 \xe2\x98\x95 \\ud83d\\ude00"} ],\r\n'
    b'\t"model" : "m-ref" , "temperature":1.10,"top_p":0.10e1, "seed":9007199254740993,\n'
    b' "x_unknown":{"zero":0,"no":false,"none":null,"empty":"","list":[]},'
    b'"metadata":{"a/b":"\\/"} }'
)


def test_the_upstream_gets_the_clients_very_bytes(stack: Stack, account: Account) -> None:
    is_ok(account.post(ODD))
    assert stack.simulator.only().body == ODD


def test_a_mapped_model_is_spliced_and_nothing_else(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(f"map-{model}", [model], "--map", f"{model}=sim-ok-p10-c3")
    stack.upstream_names["sim-ok-p10-c3"] = model
    stack.wait_model(account, model)
    body = ODD.replace(b'"m-ref"', json.dumps(model).encode())
    answer = is_ok(account.post(body))
    assert stack.simulator.only().body == spliced(body, "sim-ok-p10-c3")
    assert answer.json["model"] == model, "the answer names the client's own model"
    streamed = whole_stream(account.stream(model))
    assert {chunk["model"] for chunk in streamed.chunks} == {model}


def test_the_client_gets_the_upstreams_bytes(stack: Stack, account: Account) -> None:
    answer = is_ok(account.chat())
    whole = {"id", "object", "created", "model", "system_fingerprint", "choices", "usage"}
    assert set(answer.json) == whole
    assert answer.json["usage"]["prompt_tokens"] == 1


def test_headers_that_go_up(stack: Stack, account: Account) -> None:
    more = [
        ("Cookie", "session=1"),
        ("X-Forwarded-For", "192.0.2.9"),
        ("X-Stainless-Lang", "python"),
        ("Idempotency-Key", "abc"),
        ("Proxy", "http://192.0.2.1:1"),
        ("X-Request-Id", "client-7"),
        ("Accept-Encoding", "gzip, deflate, br, zstd"),
        ("OpenAI-Organization", "client-org"),
    ]
    answer = is_ok(account.post(chat_body(), [*account.auth(), *more]))
    seen = stack.simulator.only()
    assert seen.header("authorization") == f"Bearer {KEYS[0]}"
    assert seen.header("content-type") == "application/json"
    assert seen.header("content-length") == str(len(seen.body))
    assert seen.header("host") == f"127.0.0.1:{stack.simulator.port}"
    for name in ("cookie", "x-forwarded-for", "x-stainless-lang", "proxy", "expect"):
        assert seen.header(name) is None, name
    assert "zstd" not in (seen.header("accept-encoding") or "")
    assert answer.request_id != "client-7"
    record = stack.site.record(answer.request_id)
    assert record["client_request_id"] == "client-7"


def test_organisation_of_the_channel(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    stack.channel(f"org-{model}", [model], "--organisation", "org-9")
    stack.wait_model(account, model)
    is_ok(account.chat(model))
    assert stack.simulator.only().header("openai-organization") == "org-9"


def test_the_upstream_path_follows_the_base_url(stack: Stack, account: Account) -> None:
    model = stack.new_model(M_REF)
    url = f"http://127.0.0.1:{stack.simulator.port}/openai/deployments/x/"
    stack.channel(f"path-{model}", [model], base_url=url)
    stack.wait_model(account, model)
    is_ok(account.chat(model))
    assert stack.simulator.only().path == "/openai/deployments/x/chat/completions"


@pytest.mark.parametrize("length", ["auto", None, "-1", ""], ids=lambda value: f"len={value}")
@pytest.mark.parametrize("style", ["apache", "caddy"])
def test_content_length_is_not_trusted(
    stack: Stack, account: Account, style: str, length: str | None
) -> None:
    account.client = FcgiClient(stack.site.address, style)
    body = chat_body(text="word " * 2000)
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    is_ok(account.post(pieces, length=length))
    seen = stack.simulator.only()
    assert seen.body == body
    assert not seen.chunked


def test_a_body_longer_than_announced_is_refused(stack: Stack, account: Account) -> None:
    answer = account.post(chat_body(text="word " * 2000), length="5")
    is_error(answer, 400, "invalid_request_error", "body_too_long")
    assert stack.simulator.requests() == []


@pytest.mark.parametrize("size", [(1 << 20) - 200, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_bodies_in_memory_and_on_disk(stack: Stack, account: Account, size: int) -> None:
    frame = len(chat_body(text=""))
    body = chat_body(text="x" * (size - frame))
    assert len(body) == size
    is_ok(account.post(body))
    assert stack.simulator.only().body == body


def test_a_large_body_is_sent_again_whole_to_the_next_channel(
    stack: Stack, account: Account
) -> None:
    body = chat_body(text="y" * (3 << 20))
    stack.simulator.behave("m-ref", "fail-then-ok")
    is_ok(account.post(body))
    first, second = stack.simulator.requests()
    assert first.body == second.body == body


def test_a_compressed_body_is_inflated(stack: Stack, account: Account) -> None:
    headers = [*account.auth(), ("Content-Encoding", "gzip")]
    is_ok(account.post(gzip.compress(ODD), headers))
    seen = stack.simulator.only()
    assert seen.body == ODD and seen.header("content-encoding") is None


@pytest.mark.parametrize("scenario", ["close-idle", "keep-half"])
def test_a_kept_connection_that_the_upstream_closed(
    stack: Stack, account: Account, scenario: str
) -> None:
    """No empty and no doubled body when the pooled connection turns out to be dead."""
    stack.simulator.behave("m-ref", scenario)
    for number in range(6):
        is_ok(account.post(chat_body(text=f"request {number}")))
    bodies = [seen.body for seen in stack.simulator.requests()]
    assert bodies == [chat_body(text=f"request {number}") for number in range(6)]


def test_a_body_above_the_limit(stack: Stack, account: Account) -> None:
    stack.site.write_conf(body__limit="1MiB")
    stack.gateway.restart()
    try:
        is_ok(account.post(chat_body(text="x" * 1000)))
        for length in ("auto", None):
            answer = account.post(chat_body(text="x" * (1 << 20)), length=length)
            is_error(answer, 413, "invalid_request_error", "request_too_large")
    finally:
        stack.site.write_conf()
        stack.gateway.restart()


MALFORMED = {
    "empty": b"",
    "no-json": b"hello",
    "array": b"[]",
    "cut": b'{"model":"m-ref","messages":[',
    "trailing": chat_body() + b"x",
    "duplicate": b'{"model":"m-ref","model":"m-alt","messages":[{"role":"user","content":"a"}]}',
    "no-model": b'{"messages":[{"role":"user","content":"a"}]}',
    "model-number": b'{"model":7,"messages":[{"role":"user","content":"a"}]}',
    "model-null": b'{"model":null,"messages":[{"role":"user","content":"a"}]}',
    "model-empty": b'{"model":"","messages":[{"role":"user","content":"a"}]}',
    "stream-text": b'{"model":"m-ref","stream":"true","messages":[{"role":"user","content":"a"}]}',
    "bad-utf8": b'{"model":"m-ref","messages":[{"role":"user","content":"\xff"}]}',
    "deep": b'{"model":"m-ref","messages":' + b"[" * 200 + b"]" * 200 + b"}",
    "nan": b'{"model":"m-ref","temperature":NaN,"messages":[{"role":"user","content":"a"}]}',
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_are_400_and_free(stack: Stack, account: Account, name: str) -> None:
    answer = account.post(MALFORMED[name])
    assert answer.status == 400, answer.body
    assert answer.error["type"] == "invalid_request_error"
    assert stack.simulator.requests() == []
    account.wait_spent(0)


def test_models_list(stack: Stack, account: Account) -> None:
    answer = is_ok(stack.fcgi.request("GET", "/v1/models", account.auth()))
    assert answer.json["object"] == "list"
    by_name = {entry["id"]: entry for entry in answer.json["data"]}
    assert {"m-ref", "m-alt", "gpt-4o"} <= set(by_name)
    assert all(entry["object"] == "model" for entry in by_name.values())
    assert list(by_name) == sorted(by_name)
    one = stack.fcgi.request("GET", "/v1/models/m-ref", account.auth())
    assert is_ok(one).json["id"] == "m-ref"


UPSTREAM_ERRORS = {
    # scenario: status, type, code as the client sees them
    "bad-request": (400, "invalid_request_error", "unsupported_value"),
    "unprocessable": (422, "invalid_request_error", "unprocessable"),
    "content-filter": (400, "invalid_request_error", "content_filter"),
    "unauthorized": (502, "server_error", "upstream_account"),
    "payment": (502, "server_error", "upstream_account"),
    "forbidden": (502, "server_error", "upstream_account"),
    "fail": (500, None, None),
    "overloaded": (503, None, None),
    "not-found": (404, None, "model_not_found"),
}


@pytest.mark.parametrize("scenario", UPSTREAM_ERRORS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_upstream_errors(stack: Stack, account: Account, scenario: str, stream: bool) -> None:
    status, kind, code = UPSTREAM_ERRORS[scenario]
    stack.simulator.behave("m-ref", scenario)
    answer = account.chat(stream=stream) if stream else account.chat()
    assert answer.status == status, answer.body
    error = answer.error
    assert kind is None or error["type"] == kind, error
    assert code is None or error["code"] == code, error
    if scenario == "bad-request":
        assert error["param"] == "temperature"
        assert len(stack.simulator.requests()) == 1, "the client's own fault is not retried"
    account.wait_spent(0)


def test_retry_after_is_passed_on(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "rate-limit", k=1)
    answer = account.chat()
    is_error(answer, 429, answer.error["type"], "rate_limit_exceeded")
    assert int(answer.header("retry-after") or 0) >= 1


def test_secrets_in_upstream_errors_are_masked(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "leaky-error")
    answer = account.chat()
    assert answer.status == 400
    assert KEYS[0].encode() not in answer.body
    for process in stack.processes()[:2]:
        assert KEYS[0] not in process.log_text()
        assert account.token not in process.log_text()


def test_a_page_instead_of_an_error_body(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "bad-gateway-html")
    answer = account.chat()
    assert answer.status == 502
    assert b"<html>" not in answer.body.split(b'"message"')[0]
    assert answer.error["type"]


@pytest.mark.parametrize("scenario", ["close-before", "reset-before"])
@pytest.mark.breaks_http
def test_an_upstream_that_does_not_answer(stack: Stack, account: Account, scenario: str) -> None:
    stack.simulator.behave("m-ref", scenario)
    answer = account.chat()
    assert answer.status in (502, 503), answer.body
    assert answer.error["type"] == "server_error"
    account.wait_spent(0)


def test_redirects_are_not_followed(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "redirect")
    answer = account.chat()
    assert answer.status >= 400 or 300 <= answer.status < 400, answer.body
    assert all(seen.path.endswith("/chat/completions") for seen in stack.simulator.requests())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_private_addresses_are_refused_unless_allowed(stack: Stack, stream: bool) -> None:
    account = stack.account()
    model = stack.new_model(M_REF)
    channel = stack.channel(f"ssrf-{model}", [model])
    stack.wait_model(account, model)
    # No command saves such an address; what stands in the table is looked at once more.
    address = "http://169.254.169.254/v1"
    stack.site.main_sql(f"UPDATE channels SET base_url = '{address}' WHERE id = {channel}")
    stack.site.ctl("channel", "disable", str(channel))
    eventually("the channel is off", lambda: account.chat(model).status == 404)
    stack.site.ctl("channel", "enable", str(channel))
    eventually("it is on again", lambda: account.chat(model).status != 404)
    answer = account.chat(model, stream=stream)
    assert answer.status in (502, 503), answer.body
    assert "169.254" not in answer.body.decode(), "addresses are masked"


def test_an_answer_that_is_no_json_is_a_failed_attempt(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "bad-json")
    answer = account.chat()
    assert answer.status in (502, 503), answer.body
    account.wait_spent(0)


def test_a_huge_answer_passes(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "huge-event", p=10, c=2)
    answer = is_ok(account.chat())
    assert len(answer.text) == 3 << 20
    account.wait_spent(bill({"prompt_tokens": 10, "completion_tokens": 2}, M_REF))
