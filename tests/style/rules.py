"""The style rules: each takes the tree (path -> text) and gives its findings."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from csource import CSource

Tree = dict[str, str]
Finding = tuple[str, int, str]  # path, line, what is wrong
Rule = Callable[[Tree], Iterator[Finding]]

PRODUCT = ("common/", "fcgi-app/", "admin-cgi/")
# Values in, values out: no I/O, no store.
PURE = (
    "fcgi-app/convert/",
    "fcgi-app/count/",
    "fcgi-app/relay/retry",
    "fcgi-app/route/select",
    "common/price/",
    "common/json/",
)
MONEY = ("common/price/", "common/ledger/", "common/store/", "common/base/money")
SQL_HOMES = ("common/store/", "common/sql/")

FILE_LINES = 500
HEADER_LINES = 120
FUNCTION_LINES = 60
PARAMETERS = 5
NESTING = 3
COLUMNS = 100

# One wrapper per library.
LIBRARIES = {
    "libfcgi": r"fcgiapp\.h|fcgi_stdio\.h|fcgios\.h",
    "libcurl": r"curl/.*",
    "Connector/C": r"(mysql|mariadb)/.*|mysql\.h|errmsg\.h|mysqld_error\.h",
    "hiredis": r"hiredis/.*|hiredis\.h",
    "json-c": r"json-c/.*|json\.h",
    "libconfig": r"libconfig\.h",
    "libjwt": r"jwt\.h",
    "libsodium": r"sodium\.h|sodium/.*",
    "GMP": r"gmp\.h",
    "PCRE2": r"pcre2\.h",
    "zlib": r"zlib\.h",
    "Zstandard": r"zstd.*\.h",
}
PURE_HEADERS = re.compile(
    r"unistd\.h|fcntl\.h|poll\.h|netdb\.h|dirent\.h|syslog\.h|signal\.h|pthread\.h|spawn\.h"
    r"|sys/.*|netinet/.*"
    r"|common/(sql|redis|http|fcgi|store|ledger)/.*|common/base/log\.h"
    r"|common/conf/(?!units\.h).*"
)
PURE_CALLS = (
    "fopen fdopen freopen fclose fread fwrite fgets fputs fputc putc puts printf fprintf vprintf "
    "vfprintf perror getline fscanf scanf open openat read write close socket connect send recv "
    "getenv setenv fork mmap tg_random tg_token_new"
)
BANNED_CALLS = (
    "strcpy strcat stpcpy sprintf vsprintf strtok atoi atol atoll atof alloca gets system popen "
    "rand srand random setlocale"
)
HEAP_CALLS = "malloc calloc realloc reallocarray strdup strndup asprintf vasprintf"
SQL = re.compile(
    r"\bSELECT\s.*\bFROM\b|\bSELECT\s+[\w(]+\)?$|\bINSERT\s+(IGNORE|INTO)\b|\bUPDATE\s+\w+\s+SET\b"
    r"|\bDELETE\s+FROM\b|\bREPLACE\s+INTO\b"
    r"|\b(CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|DATABASE|INDEX)\b"
    r"|\bSTART\s+TRANSACTION\b|\bON\s+DUPLICATE\s+KEY\b|\bLOCK\s+TABLES\b|^(COMMIT|ROLLBACK|BEGIN)$"
)
OPEN_TASK = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b(?!\(#\d+\))")
MACHINE_PATH = re.compile(r"(?<![\w.:/}$-])/(home|root|Users|work|workspace)/")


@lru_cache(maxsize=None)
def parse(text: str) -> CSource:
    return CSource(text)


def c_files(tree: Tree, *suffixes: str) -> Iterator[tuple[str, CSource]]:
    for path in sorted(tree):
        if path.endswith(suffixes or (".c", ".h", ".def")):
            yield path, parse(tree[path])


def calls(source: CSource, names: str) -> Iterator[tuple[int, str]]:
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(names.split()) + r")\s*\(")
    for match in pattern.finditer(source.code):
        yield source.line_of(match.start()), match[1]


def library(tree: Tree) -> Iterator[Finding]:
    """A third-party header stands in one .c file, its wrapper."""
    homes: dict[str, str] = {}
    inner: set[str] = set()  # headers that show a library to the files of its wrapper
    for path, source in c_files(tree):
        for line, header in source.includes if path.startswith(PRODUCT) else ():
            for name, pattern in LIBRARIES.items():
                if not re.fullmatch(pattern, header):
                    continue
                if not path.endswith(".c"):
                    inner.add(path)
                    yield path, line, f"{header} of {name} in a header"
                elif homes.setdefault(name, path) != path:
                    yield path, line, f"{header}: the wrapper of {name} is {homes[name]}"
    for path, source in c_files(tree):
        for line, header in source.quoted_includes:
            if header in inner and header.rsplit("/", 1)[0] != path.rsplit("/", 1)[0]:
                yield path, line, f"{header} belongs to the files beside it"


def direction(tree: Tree) -> Iterator[Finding]:
    """fcgi-app -> common, admin-cgi -> common, nothing the other way."""
    for path, source in c_files(tree):
        if not path.startswith(PRODUCT):
            continue
        own = path.split("/", 1)[0] + "/"
        for line, header in source.quoted_includes:
            if header.startswith((*PRODUCT, "tests/")) and not header.startswith((own, "common/")):
                yield path, line, f"{own} includes {header}"
            if header.startswith(".") or f"{path.rsplit('/', 1)[0]}/{header}" in tree:
                yield path, line, f"{header}: name it from the top of the tree"


def pure(tree: Tree) -> Iterator[Finding]:
    """Pure folders do no I/O and know no store."""
    for path, source in c_files(tree):
        if not path.startswith(PURE):
            continue
        for line, header in source.includes:
            if PURE_HEADERS.fullmatch(header):
                yield path, line, f"{header} in a pure file"
        for line, name in calls(source, PURE_CALLS):
            yield path, line, f"{name}() in a pure file"


def languages(tree: Tree) -> Iterator[Finding]:
    """SQL in the stores only, Lua in .lua files only."""
    for path, source in c_files(tree):
        if not path.startswith(PRODUCT):
            continue
        for line, text in source.strings:
            if SQL.search(text.replace("\\n", " ")) and not path.startswith(SQL_HOMES):
                yield path, line, "SQL outside of common/store"
            if "redis.call(" in text or "redis.pcall(" in text:
                yield path, line, "Lua outside of a .lua file"


def banned(tree: Tree) -> Iterator[Finding]:
    """Calls that nobody makes, and those that have a wrapper."""
    for path, source in c_files(tree):
        for line, name in calls(source, BANNED_CALLS):
            yield path, line, f"{name}() is banned"
        if not path.startswith(PRODUCT) or path == "common/base/memory.c":
            continue
        for line, name in calls(source, HEAP_CALLS):
            yield path, line, f"{name}(): use base/memory.h"


def money(tree: Tree) -> Iterator[Finding]:
    """No floating point where money is counted."""
    for path, source in c_files(tree):
        if path.startswith(MONEY):
            for match in re.finditer(r"\b(float|double)\b", source.code):
                yield path, source.line_of(match.start()), f"{match[1]} beside money"


def is_source(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return path.endswith((".c", ".h", ".def", ".py", ".lua", ".sh")) or "." not in name


def size(tree: Tree) -> Iterator[Finding]:
    """Files, functions, parameters, nesting."""
    for path in sorted(tree):
        most = HEADER_LINES if path.endswith(".h") else FILE_LINES
        count = tree[path].count("\n")
        if is_source(path) and path not in ("LICENSE",) and count > most:
            yield path, most + 1, f"{count} lines, at most {most}"
    for path, source in c_files(tree, ".c", ".h"):
        for function in source.functions:
            for what, count, most in (
                ("lines", function.line_count, FUNCTION_LINES),
                ("parameters", function.parameter_count, PARAMETERS),
                ("blocks deep", function.nesting, NESTING),
            ):
                if count > most:
                    yield path, function.line, f"{function.name}: {count} {what}, at most {most}"


def layout(tree: Tree) -> Iterator[Finding]:
    """Columns, tabs, blanks at line ends, the last line end."""
    for path in sorted(tree):
        text = tree[path]
        if not is_source(path) or path == "LICENSE":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > COLUMNS:
                yield path, number, f"{len(line)} columns, at most {COLUMNS}"
            if line != line.rstrip():
                yield path, number, "blanks at the end of the line"
            if "\t" in line and path.endswith((".c", ".h", ".py", ".lua")):
                yield path, number, "a tab"
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "no line end at the end"


def header(tree: Tree) -> Iterator[Finding]:
    """A header opens with its name and purpose and has a guard made from its path."""
    for path, source in c_files(tree, ".h"):
        name = path.rsplit("/", 1)[-1].removesuffix(".h")
        if not source.text.startswith(f"/* {name} - "):
            yield path, 1, f'does not open with "/* {name} - what it is for"'
        if not re.search(r"^#ifndef (TOLLGATE_\w+_H)\n#define \1\n", source.text, re.M):
            yield path, 1, "no guard TOLLGATE_..._H"


def task(tree: Tree) -> Iterator[Finding]:
    """Open work has an issue number."""
    for path in sorted(tree):
        for number, line in enumerate(tree[path].split("\n"), 1):
            if OPEN_TASK.search(line):
                yield path, number, "open work without an issue number"


def machine(tree: Tree) -> Iterator[Finding]:
    """No path of somebody's machine."""
    for path in sorted(tree):
        for number, line in enumerate(tree[path].split("\n"), 1):
            if MACHINE_PATH.search(line):
                yield path, number, "a path of one machine"


def listed(tree: Tree) -> Iterator[Finding]:
    """Every source stands in a makefile: what does not is missing in the distribution."""
    makefiles = "\n".join(text for path, text in tree.items() if path.endswith((".mk", ".am")))
    words = set(re.split(r"[\s=]+", makefiles))
    for path in sorted(tree):
        if path.endswith((".c", ".h", ".def", ".lua")) and path not in words:
            yield path, 1, "is in no local.mk"


RULES: tuple[Rule, ...] = (
    library,
    direction,
    pure,
    languages,
    banned,
    money,
    size,
    layout,
    header,
    task,
    machine,
    listed,
)
