"""A person at the console in Chromium, who reads every page that comes along strictly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import html5lib
import pytest
from playwright.sync_api import sync_playwright

from harness.chromium import PROGRAM, Person, shots

# What a template never writes: handlers in attributes, scripts in the page, links that are scripts.
STRANGE = """() => {
  const found = [];
  for (const element of document.querySelectorAll('*')) {
    if (element.localName === 'script' && !element.src)
      found.push(element.outerHTML);
    for (const attribute of element.attributes)
      if (/^on/i.test(attribute.name) ||
          (attribute.name !== 'value' && /^\\s*javascript:/i.test(attribute.value)))
        found.push(element.localName + ' ' + attribute.name + '=' + attribute.value);
  }
  return found;
}"""


@contextmanager
def chromium() -> Iterator[Any]:
    if not Path(PROGRAM).exists():
        pytest.skip("Chromium is not installed (package chromium)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield browser
        browser.close()


def html_error(text: str) -> str:
    """The first error that a strict parser finds, "" when there is none."""
    try:
        html5lib.HTMLParser(strict=True).parse(text)
    except html5lib.html5parser.ParseError as error:
        return str(error)
    return ""


class Visitor(Person):
    """`problems` has besides: HTML that is not valid, scripts in pages, pages that are too wide."""

    def __init__(self, browser: Any, port: int, size: str = "desk", album: str = "") -> None:
        super().__init__(browser, f"http://127.0.0.1:{port}", size)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self.base_url)
        self.album = album
        self.pictures = 0

    def complain(self, what: str) -> None:
        self.problems.append(f"{self.page.url}: {what}")

    def go(self, path: str) -> Any:
        response = self.page.goto(path)
        self.read(response)
        return response

    def click(self, name: str, role: str = "button") -> None:
        """A button (or link) that leads to another page."""
        with self.page.expect_navigation() as navigation:
            self.page.get_by_role(role, name=name, exact=True).first.click()
        self.read(navigation.value)

    def fill(self, **fields: str) -> None:
        for name, text in fields.items():
            self.page.locator(f"main [name='{name}']").fill(text)

    def read(self, response: Any) -> None:
        """The page that came, as text and as it stands in the window."""
        if response is not None and "text/html" in response.headers.get("content-type", ""):
            error = html_error(response.text())
            if error:
                self.complain(f"no valid HTML: {error}")
        for strange in self.page.evaluate(STRANGE):
            self.complain(f"in the page: {strange}")
        if self.overflow() > 0:
            self.complain(f"{self.overflow()} pixels wider than the window")

    def picture(self, name: str) -> None:
        """The page in both lights, in the order of the visit."""
        folder = shots() / self.album
        folder.mkdir(exist_ok=True)
        self.pictures += 1
        for light in ("dark", "light"):
            self.page.emulate_media(color_scheme=light)
            path = folder / f"{self.pictures:02}-{name}-{light}.png"
            self.page.screenshot(path=path, full_page=True, animations="disabled")
