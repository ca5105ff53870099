"""The converters are pure: they link libc and json-c alone, ask the system for nothing, and hold no
state between calls."""

from __future__ import annotations

import re
import subprocess

from harness.gateway import build_tree

LIBRARIES = r"libc\.so|libjson-c\.so|ld-linux|lib(a|ub|t)san\.so|libclang_rt"
# Of libc what works on memory alone. inet_pton reads an address out of a text.
FUNCTIONS = (
    r"mem\w+|str\w+|snprintf|free|inet_pton|__ctype_(b|tolower|toupper)_loc|to(lower|upper)"
    r"|_*stack_chk_fail|__\w+_chk"
)
SANITIZERS = r"_?_(asan|ubsan|tsan|odr_asan|sanitizer)\w*\.?|_GLOBAL_OFFSET_TABLE_"


def lines(*argv: str) -> list[str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def library(name: str = "convert") -> str:
    return str(build_tree() / f"lib{name}.a")


def asked() -> set[str]:
    return {line.split()[-1] for line in lines("nm", "-u", library()) if " U " in line}


def test_a_program_with_all_converters_needs_json_c_and_libc() -> None:
    program = str(build_tree() / "convert-tool")
    needed = [line for line in lines("readelf", "-d", program) if "(NEEDED)" in line]
    assert needed and [line for line in needed if not re.search(LIBRARIES, line)] == []


def test_what_is_ours_comes_from_the_base() -> None:
    made = {
        line.split()[-1]
        for name in ("convert", "base")
        for line in lines("nm", "--defined-only", library(name))
        if re.search(r" [TDRB] ", line)
    }
    ours = {name for name in asked() if name.startswith("tg_")}
    assert ours and ours - made == set()
    assert not ours & {"tg_now_us", "tg_unix_us", "tg_random"}, "time and random are given"


def test_nothing_is_asked_of_the_system() -> None:
    foreign = {name for name in asked() if not name.startswith("tg_")}
    assert {n for n in foreign if not re.fullmatch(f"{FUNCTIONS}|{SANITIZERS}", n)} == set()


def test_there_is_no_state() -> None:
    writable = re.compile(r" O \.(data|bss|tdata|tbss)(\.rel(\.local)?)?\s")
    objects = [line for line in lines("objdump", "-t", library()) if writable.search(line)]
    names = [line.split()[-1] for line in objects]
    assert [name for name in names if not re.match(SANITIZERS, name)] == []
