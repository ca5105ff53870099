"""Bills by hand: the arithmetic of the chat dialect in exact fractions, nothing of Tollgate's.

1 USD = 500,000 quota; prices in USD per million tokens; rounded half-up once at the end; a non-zero
price with any token used bills at least 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

QUOTA_PER_USD = 500_000
UNPRICED = {"cache_write_5m": Fraction("1.25"), "cache_write_1h": Fraction(2)}


@dataclass(frozen=True)
class Price:
    """USD per million tokens as decimal text, as an operator types it."""

    input: str = "0"
    output: str = "0"
    cache_read: str | None = None
    cache_write_5m: str | None = None
    cache_write_1h: str | None = None
    image: str | None = None
    audio_in: str | None = None
    audio_out: str | None = None
    call: str | None = None

    def part(self, name: str) -> Fraction:
        """Price per token in quota; a part without a price of its own follows its whole."""
        text = getattr(self, name)
        if text is not None:
            value = Fraction(text)
        elif name == "audio_out":
            value = Fraction(self.output)
        else:
            value = Fraction(self.input) * UNPRICED.get(name, 1)
        return value * QUOTA_PER_USD / 1_000_000

    def options(self) -> list[str]:
        if self.call is not None:
            return ["--call", self.call]
        result = []
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is not None:
                result += ["--" + name.replace("_", "-"), value]
        return result


# The test model of the field reports: 1.5 / 0.15 / 1.875 / 3 / 7.5 quota per token.
M_REF = Price("3.00", "15.00", "0.30", "3.75", "6.00")


def half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def bill(usage: dict[str, Any] | None, price: Price, ratio: str = "1") -> int:
    """The quota that a usage object of the chat dialect costs."""
    if price.call is not None:
        return half_up(Fraction(price.call) * QUOTA_PER_USD * Fraction(ratio))
    if usage is None:
        return 0
    prompt = max(0, usage.get("prompt_tokens") or 0)
    output = max(0, usage.get("completion_tokens") or 0)
    before = usage.get("prompt_tokens_details") or {}
    after = usage.get("completion_tokens_details") or {}
    cached = before.get("cached_tokens") or 0
    written = before.get("cache_write_tokens") or 0
    audio_in = before.get("audio_tokens") or 0
    audio_out = after.get("audio_tokens") or 0
    base = max(0, prompt - cached - written - audio_in)
    total = (
        base * price.part("input")
        + cached * price.part("cache_read")
        + written * price.part("cache_write_5m")
        + audio_in * price.part("audio_in")
        + max(0, output - audio_out) * price.part("output")
        + audio_out * price.part("audio_out")
    ) * Fraction(ratio)
    used = prompt + output > 0
    return max(half_up(total), 1 if used and total > 0 else 0)


def quota(usd: str) -> int:
    value = Fraction(usd) * QUOTA_PER_USD
    assert value.denominator == 1, f"{usd} USD is no whole quota"
    return int(value)
