"""Random formulas, computed by `tollgatectl price check` and in Python's fractions."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from math import ceil, floor
from typing import Any

from harness.money import half_up
from harness.stack import Stack

ROUNDS = 40
KINDS = {"cr": "cache_read", "cw5": "cache_write_5m", "cw1h": "cache_write_1h", "img": "image",
         "ai": "audio_in"}  # fmt: skip
COMPARE = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def names_of(usage: dict[str, int], used: set[str]) -> dict[str, Fraction]:
    """p and c hold what the formula does not name itself."""
    parts = {name: usage[kind] for name, kind in KINDS.items()}
    base = usage["input"] - sum(parts.values())
    values = {
        **parts,
        "p": base + sum(count for name, count in parts.items() if name not in used),
        "c": usage["output"] - (usage["audio_out"] if "ao" in used else 0),
        "ao": usage["audio_out"],
        "len": usage["input"],
        "r": usage["reasoning"],
    }
    return {name: Fraction(value) for name, value in values.items()}


class Formula:
    """A random tree: as text, and as a value."""

    def __init__(self, source: random.Random, depth: int = 4) -> None:
        self.source = source
        self.tree = self.number(depth)

    def number(self, depth: int) -> tuple:
        kind = self.source.randrange(11) if depth > 0 else self.source.randrange(2)
        below = depth - 1
        if kind == 0:
            return "number", f"{self.source.randrange(100)}.{self.source.randrange(1000):03d}"
        if kind == 1:
            return "name", self.source.choice([*KINDS, "p", "c", "ao", "len", "r"])
        if kind in (2, 3, 4, 5):
            return self.source.choice("+-*"), self.number(below), self.number(below)
        if kind == 6:
            divisor = str(self.source.randrange(1, 999))
            return "/", self.number(below), ("number", divisor)
        if kind == 7:
            return self.source.choice(["min", "max"]), self.number(below), self.number(below)
        if kind == 8:
            return self.source.choice(["ceil", "floor", "fixed"]), self.number(below)
        if kind == 9:
            return "tier", self.number(below)
        return "?", self.truth(below), self.number(below), self.number(below)

    def truth(self, depth: int) -> tuple:
        kind = self.source.randrange(4) if depth > 0 else 0
        if kind < 2:
            compare = self.source.choice(list(COMPARE))
            return compare, self.number(depth - 1), self.number(depth - 1)
        if kind == 2:
            return "!", self.truth(depth - 1)
        return self.source.choice(["&&", "||"]), self.truth(depth - 1), self.truth(depth - 1)


def text(tree: tuple) -> str:
    word, *rest = tree
    if word in ("number", "name"):
        return rest[0]
    parts = [text(part) for part in rest]
    if word == "?":
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if word == "tier":
        return f'tier("t", {parts[0]})'
    if word == "!":
        return f"!({parts[0]})"
    if word in ("min", "max", "ceil", "floor", "fixed"):
        return f"{word}({', '.join(parts)})"
    return f"({parts[0]} {word} {parts[1]})"


def used_names(tree: tuple) -> set[str]:
    word, *rest = tree
    if word == "name":
        return {rest[0]}
    return set().union(*(used_names(part) for part in rest if isinstance(part, tuple)), set())


def value(tree: tuple, names: dict[str, Fraction]) -> Any:
    word, *rest = tree
    if word == "number":
        return Fraction(rest[0])
    if word == "name":
        return names[rest[0]]
    if word == "?":
        return value(rest[1] if value(rest[0], names) else rest[2], names)
    a, *more = (value(part, names) for part in rest)
    if word in COMPARE:
        return COMPARE[word](a, more[0])
    one = {"!": lambda: not a, "ceil": lambda: Fraction(ceil(a)), "tier": lambda: a,
           "floor": lambda: Fraction(floor(a)), "fixed": lambda: a * 1_000_000}  # fmt: skip
    if word in one:
        return one[word]()
    b = more[0]
    two = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b,
           "min": lambda: min(a, b), "max": lambda: max(a, b), "&&": lambda: a and b,
           "||": lambda: a or b}  # fmt: skip
    return two[word]()


def random_usage(source: random.Random) -> dict[str, int]:
    size = source.choice([3, 100, 20_000])
    usage = {kind: source.randrange(size) for kind in KINDS.values()}
    usage["input"] = sum(usage.values()) + source.randrange(size)
    usage["audio_out"] = source.randrange(size)
    usage["output"] = usage["audio_out"] + source.randrange(size)
    usage["reasoning"] = source.randrange(usage["output"] + 1)
    return usage


def test_random_formulas_agree(stack: Stack) -> None:
    source = random.Random(11)
    model = f"formula-{next(stack.numbers)}"
    for _ in range(ROUNDS):
        tree = ("max", ("number", "0"), Formula(source).tree)
        usage = random_usage(source)
        exact = value(tree, names_of(usage, used_names(tree)))
        stack.site.ctl("price", "set", model, "--expression", text(tree))
        said = stack.site.ctl("price", "check", model, "--usage", json.dumps(usage))
        expected = min(max(half_up(exact / 2), 1 if exact > 0 else 0), 9 * 10**15)
        assert said["quota"] == expected, (text(tree), usage, exact)
    stack.site.ctl("price", "delete", model)
