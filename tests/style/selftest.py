"""Every rule finds what it is for, and leaves alone what is right."""

from rules import RULES, Tree

MK = {"local.mk": "S = common/a.c common/b.c common/a.h fcgi-app/a.c tests/unit/a.c \\\n"}
HEADER = "/* a - x */\n#ifndef TOLLGATE_A_H\n#define TOLLGATE_A_H\n#endif\n"


def function(body: str, parameters: str = "void") -> str:
    return f"int f({parameters})\n{{\n{body}}}\n"


FIVE = "int a, int (*b)(int, int), int c, int d,\n    int e"
DEEP = "if (a) {\nfor (;;) {\nwhile (b) {\n%s\n}\n}\n}\n"

# rule, tree, how many findings
CASES: tuple[tuple[str, Tree, int], ...] = (
    ("library", {"common/a.c": "#include <zlib.h>\n", "common/b.c": "#include <zlib.h>\n"}, 1),
    ("library", {"common/a.h": "#include <curl/curl.h>\n"}, 1),
    ("library", {"common/a.h": "#include <gmp.h>\n", "common/x/a.c": '#include "common/a.h"\n'}, 2),
    ("library", {"common/a.h": "#include <gmp.h>\n", "common/a.c": '#include "common/a.h"\n'}, 1),
    ("library", {"common/a.c": '# include "hiredis/hiredis.h"\n#include <hiredis/read.h>\n'}, 0),
    ("library", {"common/a.c": "#include <sodium.h>\n", "tests/a.c": "#include <sodium.h>\n"}, 0),
    ("direction", {"common/a.c": '#include "fcgi-app/a.h"\n'}, 1),
    ("direction", {"admin-cgi/a.c": '#include "fcgi-app/a.h"\n#include "common/a.h"\n'}, 1),
    ("direction", {"fcgi-app/a.c": '#include "tests/unit/unit.h"\n'}, 1),
    ("direction", {"common/a.c": '#include "a.h"\n', "common/a.h": ""}, 1),
    ("direction", {"common/a.c": "#include <zlib.h>\n", "common/zlib.h": ""}, 0),
    ("direction", {"fcgi-app/a.c": '#include "../common/a.h"\n'}, 1),
    ("direction", {"tests/unit/a.c": '#include "fcgi-app/a.h"\n'}, 0),
    ("pure", {"common/price/a.c": "#include <unistd.h>\n"}, 1),
    ("pure", {"fcgi-app/route/select.c": '#include "common/redis/kv.h"\n'}, 1),
    ("pure", {"common/json/a.c": function('printf("x");\n')}, 1),
    ("pure", {"common/json/a.c": function("snprintf(a, b, c); x->read(y); /* read() */\n")}, 0),
    ("pure", {"fcgi-app/relay/transfer.c": "#include <unistd.h>\n"}, 0),
    ("languages", {"fcgi-app/a.c": 'x("SELECT a "\n  "FROM b");\n'}, 1),
    ("languages", {"fcgi-app/a.c": 'x("UPDATE users SET a = ?");\n'}, 1),
    ("languages", {"fcgi-app/a.c": 'x("COMMIT");\n'}, 1),
    ("languages", {"common/ledger/a.c": 'x("return redis.call(1)");\n'}, 1),
    ("languages", {"common/store/a.c": 'x("SELECT a FROM b");\n'}, 0),
    ("languages", {"fcgi-app/a.c": '/* "SELECT a FROM b" */ x("select one from the list");\n'}, 0),
    ("banned", {"tests/unit/a.c": function("strcpy(a, b);\n")}, 1),
    ("banned", {"common/a.c": function("a = malloc (1);\n")}, 1),
    ("banned", {"common/a.c": function('tg_malloc(1); x = "atoi("; /* rand() */\n')}, 0),
    ("banned", {"common/base/memory.c": function("malloc(1);\n")}, 0),
    ("money", {"common/price/a.c": "static double x;\n"}, 1),
    ("money", {"common/price/a.c": "/* no double */\n", "fcgi-app/a.c": "double x;\n"}, 0),
    ("size", {"common/a.c": "\n" * 501}, 1),
    ("size", {"common/a.h": "\n" * 121}, 1),
    ("size", {"common/a.c": "\n" * 500, "common/a.h": "\n" * 120}, 0),
    ("size", {"common/a.c": function("a();\n" * 58)}, 1),
    ("size", {"common/a.c": function("a();\n" * 57)}, 0),
    ("size", {"common/a.c": function("", f"{FIVE}, int f")}, 1),
    ("size", {"common/a.c": function("", FIVE)}, 0),
    ("size", {"common/a.c": function(DEEP % "do {\n} while (c);")}, 1),
    ("size", {"common/a.c": function(DEEP % "x = (struct x){.y = {{1}}};")}, 0),
    ("layout", {"common/a.c": "x" * 101 + "\n"}, 1),
    ("layout", {"common/a.c": "x \n"}, 1),
    ("layout", {"common/a.c": "\tx\n"}, 1),
    ("layout", {"common/a.c": "x"}, 1),
    ("layout", {"common/a.c": "x" * 100 + "\n", "local.mk": "\tx" + "y" * 200 + "\n"}, 0),
    ("header", {"common/a.h": HEADER.replace("a - x", "b - x")}, 1),
    ("header", {"common/a.h": HEADER.replace("#define", "#undef")}, 1),
    ("header", {"common/a.h": HEADER}, 0),
    ("task", {"common/a.c": "/* TO" "DO: later */\n"}, 1),
    ("task", {"conf/x.conf": "# FIX" "ME\n"}, 1),
    ("task", {"common/a.c": "/* TO" "DO(#12): later */ XXXXXX\n"}, 0),
    ("machine", {"README.md": "see `/ho" "me/someone/x`\n"}, 1),
    ("machine", {"README.md": "see https://host/ro" "ot/x and /etc/x\n"}, 0),
    ("listed", {"common/c.c": "", **MK}, 1),
    ("listed", {"common/a.c": "", "tests/unit/a.c": "", **MK}, 0),
)


def self_test() -> list[str]:
    """What went wrong, one line each."""
    rules = {rule.__name__: rule for rule in RULES}
    problems = [f"rule {name} has no case" for name in rules if name not in {c[0] for c in CASES}]
    for number, (name, tree, expected) in enumerate(CASES, 1):
        found = list(rules[name](tree))
        if len(found) != expected:
            problems.append(f"case {number} of {name}: {expected} findings expected, got {found}")
    return problems
