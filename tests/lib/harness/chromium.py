"""Debian's Chromium, driven by Playwright: pages as people see them, and all that goes wrong."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from harness.gateway import build_tree

SIZES = {"desk": (1280, 800), "phone": (390, 844)}
PROGRAM = "/usr/bin/chromium"


def shots() -> Path:
    """Where screenshots are kept: TOLLGATE_TEST_DIR, else the build tree."""
    folder = Path(os.environ.get("TOLLGATE_TEST_DIR", build_tree() / "tests")) / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Person:
    """One person's window. `problems` collects what no page may cause: script errors, dialogs,
    refusals by the content security policy, requests that fail or leave the site."""

    def __init__(self, browser: Any, base_url: str, size: str = "desk", dark: bool = False) -> None:
        width, height = SIZES[size]
        self.size = size
        self.base_url = base_url
        self.problems: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            is_mobile=size == "phone",
            has_touch=size == "phone",
            base_url=base_url,
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(30000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)

    def _console(self, message: Any) -> None:
        # An answer of 4xx is written to the console as well; that is what some tests ask for.
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            self.problems.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.base_url, "data:")):
            self.problems.append(f"left the site: {request.url}")

    def log_in(self, name: str, password: str) -> None:
        self.page.goto("/tollgate/login.cgi")
        self.page.fill("#username", name)
        self.page.fill("#password", password)
        self.page.press("#password", "Enter")
        self.page.wait_for_selector("text=Log out")

    def shot(self, name: str) -> None:
        safe = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        self.page.screenshot(path=shots() / f"{safe}-{self.size}.png", full_page=True)

    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def close(self) -> None:
        self.context.close()
