"""Fixtures of this suite."""

from __future__ import annotations

from harness.cases import case

__all__ = ["case"]
