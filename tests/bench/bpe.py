"""bpe_mb_s, bpe_vs_tiktoken: exact counting on one core, on English prose.

bpe_mb_s              MB/s of text into token ids, the slower of both encodings
bpe_vs_tiktoken       that speed over tiktoken's on one thread, in turns within the same run

The text: what is written in this tree and the licences that every Debian carries. Started by
tests/bench/run, in an environment that has tiktoken.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "lib"), str(TESTS / "tokens")]

import tokenisers  # noqa: E402

ROUNDS = 5
SECONDS = 1.0
PAGES = ("*.md", "LICENSE", "conf/doc/**/*", "*/*.[1-8]")


def english() -> str:
    top = TESTS.parent
    paths = {path for pattern in PAGES for path in top.glob(pattern)}
    paths |= set(Path("/usr/share/common-licenses").glob("*"))
    pages = [path for path in sorted(paths) if path.is_file() and not path.is_symlink()]
    return "\n".join(page.read_text(encoding="utf-8", errors="replace") for page in pages)


def ours(name: str, text: bytes) -> float:
    """Bytes per second."""
    asked = struct.pack("<I", len(text)) + text
    argv = [*tokenisers.command(name), "--time", str(SECONDS)]
    return float(subprocess.run(argv, input=asked, capture_output=True, check=True).stdout)


def theirs(name: str, text: str) -> float:
    encoding, begun, done = tokenisers.encoding(name), time.perf_counter(), 0
    while (took := time.perf_counter() - begun) < SECONDS:
        encoding.encode_ordinary(text)
        done += 1
    return len(text.encode()) * done / took


def main() -> None:
    text = english()
    speeds, ratios = [], []
    for name in tokenisers.NAMES:
        (mine,) = tokenisers.count_tokens(name, [text.encode()])
        if mine != tokenisers.encoding(name).encode_ordinary(text):
            raise SystemExit(f"{name}: the ids differ")
        rounds = [(ours(name, text.encode()), theirs(name, text)) for _ in range(ROUNDS)]
        mine_best, other_best = (max(column) for column in zip(*rounds, strict=True))
        speeds.append(mine_best / 1e6)
        ratios.append(mine_best / other_best)
    print(f"bpe_mb_s {min(speeds):.3f} MB/s")
    print(f"bpe_vs_tiktoken {min(ratios):.3f} ratio")


if __name__ == "__main__":
    main()
