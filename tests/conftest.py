"""Loads what all Python suites share; see lib/harness and its fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))

pytest_plugins = ["harness.fixtures"]
