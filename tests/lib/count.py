"""Counts what a runner ran: prints "passed failed skipped".

count.py junit FILE             pytest's report
count.py automake BUILD STAMP   results of `make check` newer than STAMP; cmocka's programs count
                                with their tests, other programs as one
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CMOCKA = {
    name: re.compile(rf"^\[  {name} *\] (\d+) test\(s\)", re.M) for name in ("PASSED", "FAILED")
}
CMOCKA_SKIPPED = re.compile(r"^\[ +SKIPPED *\] (\d+) test\(s\)", re.M)


def junit(path: Path) -> tuple[int, int, int]:
    if not path.exists():
        return 0, 0, 0
    passed = failed = skipped = 0
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        out = int(suite.get("skipped", 0))
        failed += bad
        skipped += out
        passed += int(suite.get("tests", 0)) - bad - out
    return max(passed, 0), failed, skipped


def total(pattern: re.Pattern[str], text: str) -> int:
    return sum(int(number) for number in pattern.findall(text))


def automake(build: Path, stamp: Path) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    for report in build.rglob("*.trs"):
        if report.stat().st_mtime < stamp.stat().st_mtime:
            continue
        results = re.findall(r"^:test-result: (\w+)", report.read_text(), re.M)
        log = report.with_suffix(".log")
        text = log.read_text(errors="replace") if log.exists() else ""
        counted = {name: total(pattern, text) for name, pattern in CMOCKA.items()}
        bad = sum(result in ("FAIL", "ERROR", "XPASS") for result in results)
        if counted["PASSED"] or counted["FAILED"]:
            passed += counted["PASSED"]
            failed += counted["FAILED"] or bad
            skipped += total(CMOCKA_SKIPPED, text)
        else:
            passed += sum(result in ("PASS", "XFAIL") for result in results)
            failed += bad
            skipped += results.count("SKIP")
    return passed, failed, skipped


def main() -> None:
    kind, *paths = sys.argv[1:]
    counts = junit(Path(paths[0])) if kind == "junit" else automake(Path(paths[0]), Path(paths[1]))
    print(*counts)


if __name__ == "__main__":
    main()
