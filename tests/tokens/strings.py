"""The texts that both tokenisers are given: every code point, every script, and what breaks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
MEGABYTE = 1 << 20

# What the split patterns look at, thrown together at random.
EDGES = (
    list(" \t\n\r\v\f'\u2019/.,!?()[]{}<>=+-*_#@$%^&|~`\"\\:;0123456789abcdelmrstvABDELMRSTV")
    + list("ſḰั   　᠎​\u200d\ufe0f﻿\x00")
    + list("\u00e9\u00c9\u00df\u01c5\u02b0\u00aa\u4e2d\u6587\u3042\uac00\u0661\u00b2\u2160\u00bd")
    + list("\U0001f600\U0001f468\U0001f3fd\U0001f1e9\U00020000\U0001d400\U0010ffff\ue000")
    + ["'s", "'S", "'ll", "'LL", "'Re", "'ve", "'m", "'d", "'t", "'\u017f", "  ", "\r\n", "\n\n"]
    + ["  \n", " \n ", "://", "...", "</", "/>", "\n/", "//\n", "<|endoftext|>", "<|im_start|>"]
)

WORDS = (
    "The quick brown fox jumps over the lazy dog; it's 10,000.50 EUR, don't they'll we've I'd.",
    "Déjà vu, où l'été était très à la fête, naïve coöperate.",
    "Gr\u00fc\u00dfe aus M\u00fcnchen: Stra\u00dfenbahnhaltestelle, \u00dcberpr\u00fcfung, 3,14.",
    "Съешь ещё этих мягких БУЛОК, 1984.",
    "Ελληνικά και ΠΟΛΙΣ, Ἀρχή.",
    "人人生而自由，在尊严和权利上一律平等。",
    "すべての人間は、生まれながらにしてカタカナ。",
    "모든 인간은 태어날 때부터 자유로우며.",
    "يُولَدُ جميعُ الناسِ ١٢٣.",
    "כל בני האדם נולדו בְּנֵי.",
    "सभी मनुष्यों को १२३ அனைத்து.",
    "มนุษย์ทั้งหลาย ក្មែរ မြန်မာ.",
    "👨\u200d👩\u200d👧\u200d👦 👍🏽 ❤\ufe0f\u200d🔥 🇩🇪 1\ufe0f\u20e3",
    "int main(void)\n{\n\treturn x->y[0] != '\\0' && i++ < 0x7fffffff; // why?\n}\n\n\n",
    '{"type":"object","properties":{"cityName":{"type":"string","enum":["a","B"]}},"n":-1.5e+10}',
    "SELECT * FROM `users` WHERE id IN (1,2,3)\r\n  AND name LIKE '%O''Brien%';\r\n",
    "https://example.org/a/b?c=d&e=%20f#g user@example.org C:\\Windows\\System32 ~/.config/x",
    "camelCaseHTTPServer snake_case_word SCREAMING_CASE kebab-case-word x2y3 aB1cD2 McDONALD'S",
)


def code_points() -> Iterator[str]:
    """Each code point among letters, digits, blanks and quotes: it must be of the same kind in
    both. The planes that hold nothing are thinned out."""
    points = [
        point
        for point in range(0x110000)
        if not 0xD800 <= point <= 0xDFFF
        and (point < 0x34000 or 0xE0000 <= point < 0xE0400 or point % 997 == 0)
    ]
    for first in range(0, len(points), 64):
        yield "".join(
            f"a{c}b {c}C{c}D1{c}'s \n{c}\n {c} " for c in map(chr, points[first : first + 64])
        )


def edges(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        some = rng.sample(EDGES, rng.randint(2, 12))
        yield "".join(rng.choice(some) for _ in range(rng.randint(1, 40)))


def prose(rng: random.Random, count: int) -> Iterator[str]:
    """Stretches of all scripts, cut anywhere."""
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 5)):
            words = rng.choice(WORDS)
            begin = rng.randrange(len(words))
            parts.append(words[begin : begin + rng.randint(1, len(words))])
        yield rng.choice(["", " ", "\n", "  "]).join(parts)


def scripts(rng: random.Random, count: int) -> Iterator[str]:
    """Words of neighbours in the code charts, so of one script, assigned or not."""
    for _ in range(count):
        start = rng.choice([rng.randrange(0x2000), rng.randrange(0x20000), rng.randrange(0x33000)])
        letters = [chr(start + i) for i in range(64) if not 0xD800 <= start + i <= 0xDFFF]
        letters = letters or ["x"]
        yield " ".join(
            "".join(rng.choice(letters) for _ in range(rng.randint(1, 12)))
            for _ in range(rng.randint(1, 8))
        )


def runs(rng: random.Random, count: int) -> Iterator[str]:
    """Repeats of all lengths around the bounds of the merge."""
    for _ in range(count):
        unit = rng.choice(EDGES + ["ab", "the", "\u4e2d\u6587", "xyz", "==", "lorem "])
        length = rng.choice([rng.randint(1, 130), rng.randint(1, 1000)])
        yield rng.choice(["", "x", " ", "\n"]) + unit * length + rng.choice(["", "y", " ", "1"])


def files() -> Iterator[str]:
    for pattern in ("**/*.c", "**/*.h", "**/*.py", "**/*.md", "**/*.lua", "**/*.sql", "conf/**/*"):
        for path in sorted(TREE.glob(pattern)):
            if "build" not in path.relative_to(TREE).parts and path.is_file():
                yield path.read_text(errors="replace")


def large(rng: random.Random) -> Iterator[tuple[str, str]]:
    """(name, text) of one megabyte each."""
    units = {
        "letter": "a", "capital": "A", "blank": " ", "line end": "\n", "tab": "\t", "digit": "7",
        "sign": "=", "quote": "'", "ideograph": "\u4e2d", "accent": "\u00e9", "emoji": "\U0001f600",
        "mark": "\u0301", "two letters": "ab", "contraction": "'s", "blank and line end": " \n",
        "wide blank": "\u3000", "word": "word ", "case": "aB", "zero": "\x00",
    }  # fmt: skip
    for name, unit in units.items():
        yield name, unit * (MEGABYTE // len(unit.encode()))
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield "letters", "".join(rng.choices(letters, k=MEGABYTE))
    yield "hexadecimal", "".join(rng.choices("0123456789abcdef", k=MEGABYTE))
    base64 = letters + letters.upper() + "0123456789+/"
    yield "base64", "".join(rng.choices(base64, k=MEGABYTE))
    yield "edges", "".join(rng.choices(EDGES, k=MEGABYTE // 2))
    yield "prose", "\n".join(rng.choices(WORDS, k=MEGABYTE // 100))


def small() -> list[str]:
    rng = random.Random(5)
    texts = ["", *EDGES, *WORDS]
    for some in (edges(rng, 6000), prose(rng, 3000), scripts(rng, 3000), runs(rng, 1000)):
        texts.extend(some)
    texts.extend(files())
    texts.extend(code_points())
    return texts
