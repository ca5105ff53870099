"""Request bodies: large, cut, slow, compressed, and JSON that means harm (FR156, F37, F47, S26)."""

from __future__ import annotations

import ctypes
import ctypes.util
import gzip
import json
import time
import zlib
from collections.abc import Callable

import pytest
from harness.answer import Answer
from harness.checks import is_error, is_ok
from harness.procs import descriptors, eventually
from harness.stack import Account, Stack, chat_body

MIB = 1 << 20


def body_of(size: int) -> bytes:
    """A chat body of exactly this many bytes."""
    empty = len(chat_body(text=""))
    assert size >= empty
    return chat_body(text="x" * (size - empty))


def pieces(body: bytes, size: int = 65536) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


# --- sizes ----------------------------------------------------------------------------------


def test_20_mib_reach_the_provider_as_they_are(stack: Stack, account: Account) -> None:
    account.credit("1000")
    for number, length in enumerate(("auto", None)):
        body = body_of(20 * MIB)
        is_ok(account.post(pieces(body), length=length))
        assert stack.simulator.requests()[number].body == body


def test_lengths_that_say_nothing(stack: Stack, account: Account) -> None:
    """Web servers pass chunked bodies on with an empty length, or with -1."""
    account.credit("1000")
    for number, length in enumerate(("", "-1")):
        body = body_of(2 * MIB)
        is_ok(account.post(pieces(body), length=length))
        assert stack.simulator.requests()[number].body == body


@pytest.mark.parametrize("length", ["auto", None])
def test_fr156_the_limit_holds_to_the_byte(
    stack: Stack, account: Account, length: str | None
) -> None:
    account.credit("1000")
    for limit in (MIB, 3 * MIB):
        with stack.gateway.with_settings(body__limit=f"{limit // MIB}MiB"):
            for size, fits in ((limit - 1, True), (limit, True), (limit + 1, False)):
                seen = len(stack.simulator.requests())
                answer = account.post(pieces(body_of(size)), length=length)
                if fits:
                    is_ok(answer)
                    continue
                is_error(answer, 413, "invalid_request_error", "request_too_large")
                assert answer.complete
                assert len(stack.simulator.requests()) == seen


@pytest.mark.parametrize("length", ["auto", None])
def test_fr156_vision_sized_bodies(stack: Stack, account: Account, length: str | None) -> None:
    account.credit("1000")
    with stack.gateway.with_settings(body__limit="10MiB"):
        for mib, status in ((0.9, 200), (1.1, 200), (9, 200), (31, 413)):
            answer = account.post(pieces(body_of(int(mib * MIB))), length=length)
            assert answer.status == status, mib
    stack.site.wait_clean()


def test_bodies_in_files_leave_no_descriptor(stack: Stack, account: Account) -> None:
    account.credit("1000")
    workers = stack.gateway.workers()
    is_ok(account.post(body_of(2 * MIB)))
    # All at once, so that every worker has its links to the stores and the upstream.
    for exchange in [account.open(chat_body()) for _ in range(16)]:
        is_ok(exchange.finish())
    before = {pid: descriptors(pid) for pid in workers}
    for size in (2 * MIB, 5 * MIB):
        for _ in range(6):
            is_ok(account.post(pieces(body_of(size))))
        exchange = account.open(body_of(size), length=str(2 * size), end_body=False)
        exchange.close()
    for pid in workers:
        eventually(
            "descriptors are given back", lambda p=pid: descriptors(p) <= before[p] + 4, 20
        )


# --- arrival --------------------------------------------------------------------------------


@pytest.mark.parametrize("claimed, code", [(40, "body_incomplete"), (-7, "body_too_long")])
def test_f47_a_body_of_another_length(
    stack: Stack, account: Account, claimed: int, code: str
) -> None:
    body = chat_body()
    answer = account.post(body, length=str(len(body) + claimed))
    is_error(answer, 400, "invalid_request_error", code)
    assert stack.simulator.requests() == []
    account.wait_spent(0)


def test_f47_nothing_at_all(stack: Stack, account: Account) -> None:
    for length in ("auto", None, "", "-1"):
        answer = account.post(b"", length=length)
        is_error(answer, 400, "invalid_request_error", "invalid_json")


def test_f47_a_slow_body_is_cut_and_reserves_nothing(stack: Stack, account: Account) -> None:
    with stack.gateway.with_settings(body__deadline="1s"):
        began = time.monotonic()
        exchange = account.open(b'{"model":', length="100000", end_body=False)
        answer = exchange.finish()
        is_error(answer, 400, "invalid_request_error", "body_timeout")
        assert time.monotonic() - began > 0.9
    assert stack.simulator.requests() == []
    account.wait_spent(0)


def test_a_body_in_many_small_pieces(stack: Stack, account: Account) -> None:
    body = chat_body(text="word " * 100)
    is_ok(account.post(pieces(body, 1)))
    assert stack.simulator.only().body == body


# --- compression ----------------------------------------------------------------------------


def zstd(data: bytes) -> bytes:
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int
    ]  # fmt: skip
    room = library.ZSTD_compressBound(len(data))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(out, room, data, len(data), 3)
    return out.raw[:size]


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip-members": ("gzip", lambda data: gzip.compress(data[:50]) + gzip.compress(data[50:])),
    "deflate": ("deflate", zlib.compress),
    "deflate-bare": ("deflate", bare_deflate),
    "zstd": ("zstd", zstd),
    "zstd-frames": ("zstd", lambda data: zstd(data[:50]) + zstd(data[50:])),
}


def post_packed(account: Account, encoding: str, data: bytes, **options) -> Answer:
    return account.post(data, [*account.auth(), ("Content-Encoding", encoding)], **options)


def test_compressed_bodies_are_unpacked(stack: Stack, account: Account) -> None:
    body = chat_body(text="Rivers carry sediment. " * 50)
    for how, (encoding, pack) in PACKERS.items():
        seen = len(stack.simulator.requests())
        packed = pack(body)
        is_ok(post_packed(account, encoding, packed))
        is_ok(post_packed(account, encoding.upper(), packed))
        for damaged in (packed[:-5], b"\0" + packed, body):
            answer = post_packed(account, encoding, damaged)
            assert answer.status == 400, how
            is_error(answer, 400, "invalid_request_error", "bad_encoding")
        arrived = stack.simulator.requests()[seen:]
        assert [request.body for request in arrived] == [body, body], how
        assert all(request.header("content-encoding") is None for request in arrived), how


def test_other_encodings_are_refused(stack: Stack, account: Account) -> None:
    for encoding in ("br", "gzip, gzip", "compress", "gzip;q=1", "x" * 300):
        answer = post_packed(account, encoding, chat_body())
        is_error(answer, 400, "invalid_request_error", "unsupported_encoding")


def test_s26_a_bomb_is_refused_by_its_ratio(stack: Stack, account: Account) -> None:
    """32 MiB of one letter: the worker does not even write it to a file."""
    plain = body_of(32 * MIB)
    for how in ("gzip", "deflate", "deflate-bare", "zstd"):
        encoding, pack = PACKERS[how]
        bomb = pack(plain)
        assert len(bomb) < 100_000
        answer = post_packed(account, encoding, bomb)
        assert answer.status == 413, how
        is_error(answer, 413, "invalid_request_error", "request_too_large")
    assert stack.simulator.requests() == []
    account.wait_spent(0)


def test_s26_without_a_ratio_the_size_counts(stack: Stack, account: Account) -> None:
    account.credit("1000")
    with stack.gateway.with_settings(body__ratio=0, body__limit="4MiB"):
        is_ok(post_packed(account, "gzip", gzip.compress(body_of(4 * MIB))))
        answer = post_packed(account, "gzip", gzip.compress(body_of(4 * MIB + 1)))
        is_error(answer, 413, "invalid_request_error", "request_too_large")
    with stack.gateway.with_settings(body__ratio=2000):
        is_ok(post_packed(account, "gzip", gzip.compress(body_of(2 * MIB))))


# --- JSON -----------------------------------------------------------------------------------


def message(content: str) -> bytes:
    return b'{"model":"m-ref","messages":[{"role":"user","content":%s}]}' % content.encode(
        "utf-8", "surrogatepass"
    )


REFUSED = {
    "depth 129": b'{"model":"m-ref","x":' + b"[" * 128 + b"]" * 128 + b"}",
    "depth 10,000": b'{"model":"m-ref","x":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "depth, never closed": b'{"model":"m-ref","x":' + b'{"a":' * 500_000,
    "duplicate key": b'{"model":"m-ref","model":"m-free","messages":[]}',
    "duplicate key, escaped": b'{"model":"m-ref","mod\\u0065l":"m-free","messages":[]}',
    "duplicate key, deep": message('[{"a":1,"b":{"c":1,"c":2}}]'),
    "integer of 25 digits": b'{"model":"m-ref","seed":1000000000000000000000000,"messages":[]}',
    "integer of a million digits": b'{"model":"m-ref","seed":' + b"9" * 1_000_000 + b"}",
    "NaN": b'{"model":"m-ref","temperature":NaN,"messages":[]}',
    "Infinity": b'{"model":"m-ref","temperature":-Infinity,"messages":[]}',
    "lone surrogate": message('"\\ud800"'),
    "lone low surrogate": message('"\\udc00 text"'),
    "surrogate as UTF-8": message('"\ud800"'),
    "overlong UTF-8": b'{"model":"m-ref","messages":[{"role":"user","content":"\xc0\xaf"}]}',
    "cut UTF-8": b'{"model":"m-ref","messages":[{"role":"user","content":"\xe2\x82"}]}',
    "raw control byte": message('"\x01"'),
    "comment": b'{"model":"m-ref",/* x */"messages":[]}',
    "trailing comma": b'{"model":"m-ref","messages":[],}',
    "trailing text": chat_body() + b"x",
    "two values": chat_body() + chat_body(),
    "single quotes": b"{'model':'m-ref'}",
    "byte order mark": b"\xef\xbb\xbf" + chat_body(),
    "an array": b"[]",
    "a NUL": chat_body() + b"\0",
    "NUL in a key": b'{"model":"m-ref","a\\u0000b":1}',
    "a million keys, one twice": b'{"model":"m-ref",'
    + b",".join(b'"k%d":0' % n for n in range(300_000))
    + b',"k7":1}',
}


def test_f37_json_that_is_refused(stack: Stack, account: Account) -> None:
    for what, body in REFUSED.items():
        answer = account.post(pieces(body))
        assert answer.status == 400, what
        is_error(answer, 400, "invalid_request_error", "invalid_json")
    assert stack.simulator.requests() == []
    account.wait_spent(0)


ACCEPTED = {
    "deep": b'{"model":"m-ref","messages":[{"role":"user","content":"hi"}],"metadata":'
    + b'{"a":' * 100
    + b"1"
    + b"}" * 101,
    "pair of surrogates": message('"\\ud83d\\ude00"'),
    "NUL in a text": message('"a\\u0000b"'),
    "large integers": b'{"model":"m-ref","seed":9223372036854775807,'
    b'"messages":[{"role":"user","content":"hi"}]}',
    "long fraction": b'{"model":"m-ref","temperature":1.0000000000000000000000000000001,'
    b'"messages":[{"role":"user","content":"hi"}]}',
    "white space": b"\n\t " + chat_body() + b" \r\n",
}


def test_f37_json_that_is_fine_passes_byte_for_byte(stack: Stack, account: Account) -> None:
    stack.simulator.behave("m-ref", "ok")
    for number, (what, body) in enumerate(ACCEPTED.items()):
        json.loads(body)
        answer = account.post(body)
        assert answer.status in (200, 400), (what, answer.body)
        assert stack.simulator.requests()[number].body == body, what
