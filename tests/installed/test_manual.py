"""The man pages: one for every program and file, clean, and with all that they are to name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from harness.gateway import SOURCE, build_tree

PAGES = {
    "tollgatectl.1": SOURCE / "admin-cgi" / "tollgatectl.1",
    "tollgate.conf.5": build_tree() / "conf" / "tollgate.conf.5",
    "tollgate-fcgi.8": SOURCE / "fcgi-app" / "tollgate-fcgi.8",
    "tollgate-ledger.8": SOURCE / "fcgi-app" / "tollgate-ledger.8",
}
OPTION = re.compile(r'^OPTION\(\w+, "([^"]+)"', re.MULTILINE)

needs_man = pytest.mark.skipif(
    not (shutil.which("man") and shutil.which("groff")), reason="no man (apt-get install man-db)"
)
needs_mandoc = pytest.mark.skipif(
    not shutil.which("mandoc"), reason="no mandoc (apt-get install mandoc)"
)


def shown(page: str) -> str:
    """As a reader sees it, without emphasis."""
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", str(PAGES[page])],
        capture_output=True,
        text=True,
        env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": "1"},
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)


@needs_man
@pytest.mark.parametrize("page", PAGES)
def test_man_shows_it_without_a_warning(page: str) -> None:
    text = shown(page)
    for heading in ("NAME", "DESCRIPTION", "SEE ALSO"):
        assert re.search(rf"^{heading}$", text, re.MULTILINE), heading
    name = page.rpartition(".")[0]
    assert re.search(rf"^ +{re.escape(name)} +- +\S", text, re.MULTILINE), text[:300]


@needs_mandoc
@pytest.mark.parametrize("page", PAGES)
def test_mandoc_finds_nothing_wrong(page: str) -> None:
    argv = ["mandoc", "-T", "lint", "-W", "warning,stop", str(PAGES[page])]
    done = subprocess.run(argv, capture_output=True, text=True)
    # No date stands in a page; its version is the tree's.
    found = [x for x in (done.stdout + done.stderr).splitlines() if "missing date" not in x]
    assert found == [], "\n".join(found)


@needs_man
def test_every_option_is_in_the_page_of_the_conf() -> None:
    names = OPTION.findall((SOURCE / "common" / "conf" / "options.def").read_text())
    text = shown("tollgate.conf.5")
    assert len(names) > 60
    assert [name for name in names if not re.search(rf"^ +{name}$", text, re.MULTILINE)] == []


@needs_man
@pytest.mark.parametrize("page", PAGES)
def test_what_it_refers_to_exists(page: str) -> None:
    found = set(re.findall(r"\b(tollgate[\w.-]*)\((\d)\)", shown(page)))
    assert found, "no page stands alone"
    assert {f"{name}.{section}" for name, section in found} <= set(PAGES)


@needs_man
@pytest.mark.parametrize("name", ["tollgate-fcgi", "tollgate-ledger"])
def test_every_option_of_a_program_is_in_its_page(name: str) -> None:
    program = build_tree() / "fcgi-app" / name
    done = subprocess.run([program, "--help"], capture_output=True, text=True)
    options = set(re.findall(r"--[a-z-]+", done.stdout + done.stderr))
    assert {"--conf", "--help"} <= options
    page = shown(f"{name}.8")
    assert [option for option in sorted(options) if option not in page] == []


def test_every_program_has_a_page() -> None:
    files = [SOURCE / "admin-cgi" / "local.mk", *(SOURCE / "fcgi-app").rglob("local.mk")]
    text = "".join(path.read_text() for path in files)
    programs = set(re.findall(r"^s?bin_PROGRAMS \+= \S+/([\w-]+)$", text, re.MULTILINE))
    pages = {page.rpartition(".")[0] for page in PAGES}
    # The console's program is run by the web server alone, under other names.
    assert programs - {"tollgate-console"} == pages - {"tollgate.conf"}
