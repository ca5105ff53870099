"""The two sides: OpenAI's tiktoken on the ranks that ship with Tollgate, and count-tokens."""

from __future__ import annotations

import struct
import subprocess
from functools import lru_cache
from pathlib import Path

import tiktoken
from harness.gateway import build_tree
from tiktoken_ext import openai_public

NAMES = ("cl100k_base", "o200k_base")
FOLDER = Path(__file__).resolve().parents[2] / "fcgi-app/count"
REFUSED = 0xFFFFFFFF


@lru_cache
def ranks(name: str) -> dict[bytes, int]:
    """Tokens and ranks, read from the shipped file."""
    content = ranks_path(name).read_bytes()
    assert content[:8] == b"tgranks1"
    (count,) = struct.unpack_from("<I", content, 8)
    at, found = 12, {}
    for rank in range(count):
        found[content[at + 1 : at + 1 + content[at]]] = rank
        at += 1 + content[at]
    assert at == len(content) and len(found) == count
    return found


def ranks_path(name: str) -> Path:
    return FOLDER / f"{name}.ranks"


@lru_cache
def official(name: str) -> dict[str, object]:
    """What tiktoken says of an encoding, with our ranks in the place of a download; `digest` is
    the one that it would ask of the download."""
    digests = []

    def load(_url: str, expected_hash: str) -> dict[bytes, int]:
        digests.append(expected_hash)
        return ranks(name)

    kept, openai_public.load_tiktoken_bpe = openai_public.load_tiktoken_bpe, load
    try:
        return {**getattr(openai_public, name)(), "digest": digests[0]}
    finally:
        openai_public.load_tiktoken_bpe = kept


@lru_cache
def encoding(name: str) -> tiktoken.Encoding:
    arguments = {key: value for key, value in official(name).items() if key != "digest"}
    return tiktoken.Encoding(**arguments)


def command(name: str) -> list[str]:
    return [str(build_tree() / "count-tokens"), name, str(ranks_path(name))]


def count_tokens(name: str, texts: list[bytes], limit_s: float = 600) -> list[list[int] | None]:
    """Our ids of each text, None for one that was refused."""
    asked = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    done = subprocess.run(command(name), input=asked, capture_output=True, timeout=limit_s)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode(errors="replace")
    answers: list[list[int] | None] = []
    at = 0
    for _ in texts:
        (count,) = struct.unpack_from("<I", done.stdout, at)
        at += 4
        if count == REFUSED:
            answers.append(None)
            continue
        answers.append(list(struct.unpack_from(f"<{count}I", done.stdout, at)))
        at += 4 * count
    assert at == len(done.stdout)
    return answers


