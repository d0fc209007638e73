"""
The grammar of programs of ProgPrompt's model.

    program   = [header] line*                     in one block of code, or nothing around it
    header    = "def" name "():"                   a second one ends the program
    line      = comment | call | assertion | recovery | "pass" | "objects = [...]"
    comment   = "#" text                           begins a sub-goal
    call      = name "(" [thing ("," thing)*] ")"  with a comment behind it or without
    assertion = "assert" condition                 in brackets or without
    condition = "close" "to" thing | thing "is" ["not"] state | thing ("in" | "on") thing
    recovery  = "else:" call                       below an assertion; there may be several
    thing     = 'name' | "name" | name | number

One line `cannot: <reason>` in its place means that there is no program. Indentation is ignored.
It resembles Python, but no line is ever passed to Python.
"""

import re

from bbllm import SkillCall, errors
from bbllm.planning import is_done_line, reason_of
from bbllm_planners.prog_prompt.program import Assertion, Program, ProgramCondition, ProgramPart

MAX_LINES = 300
"""Longer programs come from models that repeat themselves."""
MAX_LINE = 300
"""Maximum length of a line [characters]."""
FORMS = (
    "a comment `# 1: take the salmon`, a call `grab('salmon')`, an assertion "
    "`assert('close' to 'salmon')`, or below one `else: find('salmon')`"
)
"""Forms of a line, for errors."""

_FENCED = re.compile(r'```[^\n`]*\n(.*?)(?:```|\Z)', re.DOTALL)
_HEADER = re.compile(r'def\s+\w+\s*\(\s*\)\s*:')
_OBJECTS = re.compile(r'objects\s*=\s*\[[^\[\]]*\]')
_CALL = re.compile(r'([^\W\d]\w*)\s*\(([^()#]*)\)\s*;?\s*(?:#.*)?')
_OBJECT = re.compile(
    r"""\s*(?:'([^'"\\]*)'|"([^'"\\]*)"|([^\W\d]\w*|[-+]?(?:\d+(?:\.\d+)?|\.\d+)))\s*(,|\Z)"""
)
_ASSERTION = re.compile(r'assert\b\s*(.*)')
_WORD = re.compile(r"""\s*(?:'([^'"\\]*)'|"([^'"\\]*)"|([^\W\d]\w*))""")
_RECOVERY = re.compile(r'else\s*:\s*(.*)')
_NOT_HERE = {
    **dict.fromkeys(('for', 'while'), 'a loop'),
    **dict.fromkeys(('if', 'elif', 'match', 'case', 'with', 'try', 'except'), 'a branch'),
    **dict.fromkeys(('import', 'from'), 'an import'),
    **dict.fromkeys(('class', 'lambda', 'async', 'def'), 'a definition'),
    **dict.fromkeys(('exec', 'eval', 'global', 'del', 'raise', 'yield'), 'a statement of Python'),
}


def parse_program(text: str) -> Program:
    """Parse a program to a second `def` or a `return`; raise GaveUpError for `cannot: ...`."""
    block = _FENCED.search(text)
    lines = [line for line in (block[1] if block else text).splitlines() if line.strip()]
    if len(lines) > MAX_LINES:
        raise errors.ParseError(
            f'The program has {len(lines)} lines; at most {MAX_LINES} are accepted. Write a '
            'shorter one.'
        )
    reader = _Reader()
    for raw in lines:
        if not reader.take(raw.strip()):
            break
    return reader.close()


def parse_rest(text: str) -> Program:
    """Parse as `parse_program`; `done` alone is empty, and comments alone raise ParseError."""
    lines = [line.strip(' `\t')[:MAX_LINE] for line in text.splitlines() if line.strip(' `\t')]
    lines = [line for line in lines if line != 'python' and not _HEADER.fullmatch(line)]
    if lines == ['pass'] or (
        lines and is_done_line(lines[-1]) and all(line.startswith('#') for line in lines[:-1])
    ):
        return Program()
    program = parse_program(text)
    if not any(goal.statements for goal in program.sub_goals):
        raise errors.ParseError(
            'The program has comments and no calls. Write the calls that are left, or, where '
            f'nothing is left to do, the line `done` alone. Each line of a program is {FORMS}.'
        )
    return program


class _Reader:
    def __init__(self) -> None:
        self._goals: list[ProgramPart] = []
        self._comment = ''
        self._statements: list[SkillCall | Assertion] = []
        self._number = 0
        self._begun = False

    def take(self, line: str) -> bool:
        self._number += 1
        if len(line) > MAX_LINE:
            # A list of all objects in a house is long, and redundant.
            if not (line.startswith('objects') and line.endswith(']')):
                raise self._error(line, f'has {len(line)} characters, of at most {MAX_LINE}')
            return True
        if line.startswith('def') and _HEADER.fullmatch(line):
            first, self._begun = not self._begun, True
            return first
        if not (self._comment or self._statements) and (reason := reason_of(line)):
            raise errors.GaveUpError(reason)
        self._begun = True
        if line.startswith('#'):
            self._begin(line.lstrip('# \t'))
        elif line == 'return':
            return False
        elif found := _RECOVERY.fullmatch(line):
            self._recover(line, found[1])
        elif found := _ASSERTION.fullmatch(line):
            self._statements.append(Assertion(self._condition(line, found[1])))
        elif line != 'pass' and not _OBJECTS.fullmatch(line):
            self._statements.append(self._call(line, line))
        return True

    def close(self) -> Program:
        if not self._begun:
            raise errors.ParseError(f'There is no program in the reply. Each line is {FORMS}.')
        self._begin('')
        return Program(tuple(self._goals))

    def _begin(self, comment: str) -> None:
        if self._comment or self._statements:
            self._goals.append(ProgramPart(self._comment, tuple(self._statements)))
        self._comment, self._statements = comment, []

    def _recover(self, line: str, text: str) -> None:
        last = self._statements[-1] if self._statements else None
        if not isinstance(last, Assertion):
            raise self._error(line, 'has an else that stands below no assertion')
        call = self._call(line, text)
        self._statements[-1] = Assertion(last.condition, (*last.recoveries, call))

    def _call(self, line: str, text: str) -> SkillCall:
        found = _CALL.fullmatch(text)
        if found is None or found[1] in _NOT_HERE:
            raise self._error(line, self._why_no_call(text))
        return SkillCall(found[1], self._objects(line, found[2]))

    def _objects(self, line: str, text: str) -> tuple[str, ...]:
        objects, rest = _matches(_OBJECT, text)
        if rest:
            raise self._error(line, 'has an argument that is no name in quotes')
        if not all(objects) or text.rstrip().endswith(','):
            raise self._error(line, 'has an argument without a name')
        return tuple(objects)

    def _condition(self, line: str, text: str) -> ProgramCondition:
        text = text.partition('#')[0].strip()
        if text.startswith('(') and text.endswith(')'):
            text = text[1:-1].strip()
        words, rest = _matches(_WORD, text)
        condition = None if rest else _condition_of(words)
        if condition is None:
            raise self._error(
                line,
                "asserts what cannot be read: `'close' to 'mug'`, `'fridge' is 'opened'`, "
                "`'mug' in 'hands'` and `'mug' on 'table'` can",
            )
        return condition

    def _error(self, line: str, why: str) -> errors.ParseError:
        return errors.ParseError(
            f'Line {self._number}, {line[:80]!r}, {why}. Each line is {FORMS}; nothing else is '
            'understood, so write the calls one after the other.'
        )

    def _why_no_call(self, text: str) -> str:
        first = re.match(r'\w*', text)
        if first and first[0] in _NOT_HERE:
            return f'is {_NOT_HERE[first[0]]}'
        if re.match(r'[^\W\d]\w*\s*\.', text):
            return 'reaches into something with a dot'
        if re.match(r'[^\W\d]\w*\s*=', text):
            return 'sets a variable'
        return 'is none of what a program may have'


def _matches(pattern: re.Pattern[str], text: str) -> tuple[list[str], str]:
    """Return the words of matches one behind the other, and the text after them."""
    words, at = [], 0
    while found := pattern.match(text, at):
        words.append((found[1] or found[2] or found[3] or '').strip())
        at = found.end()
    return words, text[at:].strip()


def _condition_of(words: list[str]) -> ProgramCondition | None:
    negated = 'not' in words
    words = [word for word in words if word != 'not']
    if len(words) != 3 or not all(words):
        return None
    first, relation, last = words
    if relation == 'to' and first == 'close':
        return ProgramCondition(last, 'close', negated=negated)
    if relation in ('is', 'in', 'on'):
        return ProgramCondition(first, relation, last, negated)
    return ProgramCondition(first, 'in', last, negated) if relation == 'inside' else None


def parse_verdict(text: str) -> bool:
    """Parse the verdict on an assertion; raise ParseError unless it is `True` or `False`."""
    words = text.replace('`', ' ').replace('*', ' ').split()
    word = words[0].strip('.,:;!').lower() if words else ''
    if word not in ('true', 'false'):
        raise errors.ParseError(
            f'{text.strip()[:80]!r} is no verdict. Answer with True or False alone.'
        )
    return word == 'true'
