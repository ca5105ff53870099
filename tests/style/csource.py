"""C sources as the style rules see them: code without comments and strings, and functions."""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<char>'(?:[^'\\\n]|\\.)*')""",
    re.DOTALL | re.VERBOSE,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
# A definition begins in the first column and has its opening brace alone in a line.
FUNCTION = re.compile(r"^(?P<head>[A-Za-z_][^;{}#=]*\))\s*\n\{\n(?P<body>.*?)^\}", re.M | re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
CONTROL = ("if", "for", "while", "switch")


def blank(text: str) -> str:
    """Spaces instead of everything but line ends."""
    return re.sub(r"[^\n]", " ", text)


@dataclass
class Function:
    name: str
    line: int
    line_count: int
    parameter_count: int
    nesting: int


@dataclass
class CSource:
    """One .c or .h file taken apart."""

    text: str
    code: str = ""
    includes: list[tuple[int, str]] = field(default_factory=list)
    quoted_includes: list[tuple[int, str]] = field(default_factory=list)
    strings: list[tuple[int, str]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def __post_init__(self) -> None:
        for match in INCLUDE.finditer(self.text):
            include = (self.line_of(match.start(1)), match[2])
            self.includes.append(include)
            if match[1] == '"':
                self.quoted_includes.append(include)
        self.code = TOKEN.sub(self.blank_token, self.text)
        self.collect_strings()
        # Lines of the preprocessor are no code of a function.
        plain = DIRECTIVE.sub(lambda match: blank(match[0]), self.code)
        self.functions = [self.function(match) for match in FUNCTION.finditer(plain)]

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    @staticmethod
    def blank_token(match: re.Match[str]) -> str:
        if match["comment"] is not None:
            return blank(match[0])
        return match[0][0] + blank(match[0][1:-1]) + match[0][-1]

    def collect_strings(self) -> None:
        """Literals that stand side by side are one string, as for the compiler."""
        end = -1
        for match in TOKEN.finditer(self.text):
            if match["string"] is None:
                continue
            between = TOKEN.sub("", self.text[end : match.start()]) if end >= 0 else "x"
            if between.strip() == "" and self.strings:
                line, text = self.strings[-1]
                self.strings[-1] = (line, text + match[0][1:-1])
            else:
                self.strings.append((self.line_of(match.start()), match[0][1:-1]))
            end = match.end()

    def function(self, match: re.Match[str]) -> Function:
        # What stands before the last declarator (attributes, a blank line) is not counted.
        head = match["head"].strip()
        name = re.search(r"([A-Za-z_]\w*)\s*\((?!.*\n\s*[A-Za-z_]\w*\s*\()", head)
        return Function(
            name=name[1] if name else "?",
            line=self.line_of(match.start("head")),
            line_count=match[0].count("\n") + 1,
            parameter_count=parameter_count(head),
            nesting=nesting(match["body"]),
        )


def parameter_count(head: str) -> int:
    """Commas between the parentheses that end the head, one level deep."""
    depth = 0
    commas = 0
    for start in range(len(head) - 1, -1, -1):
        if head[start] == ")":
            depth += 1
        elif head[start] == "(":
            depth -= 1
            if depth == 0:
                inside = head[start + 1 : -1].strip()
                return 0 if inside in ("", "void") else commas + 1
        elif head[start] == "," and depth == 1:
            commas += 1
    return 0


def opens_block(before: str) -> bool:
    """Whether a brace behind <before> opens a block and not an initializer."""
    before = before.rstrip()
    if before.endswith(")"):
        depth = 0
        for at in range(len(before) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(before[at], 0)
            if depth == 0:
                word = re.search(r"(\w+)\s*$", before[:at])
                return word is not None and word[1] in CONTROL
        return False
    return re.search(r"(?:\belse|\bdo|[;:{}]|^)$", before) is not None


def nesting(body: str) -> int:
    """The deepest block inside a function's body."""
    stack: list[bool] = []
    deepest = 0
    for at, char in enumerate(body):
        if char == "{":
            inside_initializer = bool(stack) and not stack[-1]
            stack.append(not inside_initializer and opens_block(body[:at]))
            deepest = max(deepest, sum(stack))
        elif char == "}" and stack:
            stack.pop()
    return deepest
