"""What a row of a price list makes of a usage, in exact fractions: nothing of Tollgate's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from harness.money import QUOTA_PER_USD, half_up

# A kind without a price of its own: which other, times what.
FOLLOWS = {
    "cache_read": ("input", 1),
    "cache_write_5m": ("input", Fraction(5, 4)),
    "cache_write_1h": ("input", 2),
    "image": ("input", 1),
    "audio_in": ("input", 1),
    "audio_out": ("output", 1),
}
CACHES = ("cache_read", "cache_write_5m", "cache_write_1h")


def rate(rates: dict[str, Any], name: str) -> Fraction:
    if name in rates:
        return Fraction(rates[name])
    whole, factor = FOLLOWS[name]
    return Fraction(rates.get(whole, "0")) * factor


def reached(price: dict[str, Any], read: int) -> dict[str, Any]:
    """The rates of the tier that everything read reaches."""
    rates = price
    for tier in price.get("tiers", []):
        if read > tier["above"]:
            rates = tier
    return rates


def tools_usd(price: dict[str, Any], usage: dict[str, Any]) -> Fraction:
    prices = price.get("tools", {})
    return sum(
        (
            count * Fraction(prices.get(name, prices.get("default", "0")))
            for name, count in usage.get("tools", {}).items()
        ),
        Fraction(0),
    )


def quota_of(price: dict[str, Any], usage: dict[str, Any], ratio: str = "1") -> int:
    """usage as `tollgatectl price check` takes it, input including what was cached."""
    get = usage.get
    rates = reached(price, get("input", 0))
    base = get("input", 0) - sum(get(name, 0) for name in (*CACHES, "image", "audio_in"))
    per_million = base * rate(rates, "input")
    per_million += sum(get(name, 0) * rate(rates, name) for name in (*CACHES, "image", "audio_in"))
    per_million += (get("output", 0) - get("audio_out", 0)) * rate(rates, "output")
    per_million += get("audio_out", 0) * rate(rates, "audio_out")
    usd = per_million / 1_000_000
    if "call" in price:
        usd = Fraction(price["call"])
    total = (usd + tools_usd(price, usage)) * QUOTA_PER_USD * Fraction(ratio)
    return max(half_up(total), 1 if total > 0 else 0)
