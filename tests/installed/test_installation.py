"""README's installation beside an old site, behind each web server as Debian configures it.

Everything happens on a copy of this machine that lives in memory and is gone afterwards: root
writes to an overlay, in namespaces of its own. Without root, or where the kernel refuses such a
copy, this is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.gateway import SOURCE, build_tree

ENTER = Path(__file__).with_name("enter.sh")
NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--net", "--ipc", "--kill-child"]
TOOLS = ["unshare", "setpriv", "ip", "systemd-sysusers", "systemd-tmpfiles", "make"]
CONFS = {
    "apache": "/etc/apache2/sites-available/000-default.conf",
    "caddy": "/etc/caddy/Caddyfile",
    "nginx": "/etc/nginx/sites-available/default",
    "lighttpd": "/etc/lighttpd/lighttpd.conf",
}


def why_not() -> str:
    if os.geteuid() != 0:
        return "only as root"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"no {', '.join(missing)}"
    mounts = "mount -t tmpfs t /mnt && cd /mnt && mkdir u w t && mount -t overlay o -o"
    mounts += " lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w t"
    if subprocess.run([*NAMESPACES, "sh", "-c", mounts], capture_output=True).returncode != 0:
        return "no overlay can be mounted here"
    return ""


WHY_NOT = why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "-")


def run(*argv: str, cwd: Path) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, cwd=cwd, timeout=900)
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"{' '.join(argv)}:\n{output[-4000:]}"
    return output


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """./configure && make for the places that README names; tests/run has one already."""
    places = ["--prefix=/usr", "--sysconfdir=/etc", "--localstatedir=/var"]
    build = build_tree()
    status = str(build / "config.status")
    options = run(status, "--config", cwd=build).split()
    if set(places) <= set(options) and "--enable-sanitizers" not in options:
        return build
    build = tmp_path_factory.mktemp("made")
    run(str(SOURCE / "configure"), *places, cwd=build)
    run("make", "-j", str(os.cpu_count() or 1), cwd=build)
    return build


LONG = ["nginx", "lighttpd"]


@pytest.mark.parametrize(
    "server", [pytest.param(n, marks=[pytest.mark.long] if n in LONG else []) for n in CONFS]
)
def test_beside_an_old_site(made: Path, tmp_path: Path, server: str) -> None:
    if not Path(CONFS[server]).exists():
        pytest.skip(f"{server} has no configuration of Debian here")
    argv = [*NAMESPACES, "bash", str(ENTER), str(tmp_path), str(SOURCE), str(made), server]
    assert run(*argv, cwd=tmp_path).rstrip().endswith("done")
