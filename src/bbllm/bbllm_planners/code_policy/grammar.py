"""
The grammar of programs: a closed part of Python's syntax.

    statement  = name "=" value | name ("+=" | "-=" | "*=" | "/=") value | call
               | "if" value ":" ... ["elif" ...] ["else:" ...] | "for" name "in" value ":" ...
               | "while" value ":" ... | "try:" ... ("except" [failures] ":" ...)+
               | "break" | "continue" | "pass" | "return"
    value      = number | text | True | False | None | name | call | value[value] | -value
               | value operator value | [value, ...] | (value, ...) | value "if" value "else" value
               | [value "for" name "in" value ["if" value]]
    call       = name "(" value, ... ")"    a skill, a query of the scene or a built-in one
    failures   = a name of a failure, or several in brackets

Beside the program, `goal: withdraw <condition>: <reason>` takes a condition that the task does not
ask for out of the goal.

The text is parsed by Python's parser (`ast.parse`, which executes nothing), every node of the
tree is checked against this list, and `interpreter` walks the tree. No text of a model is ever
compiled or executed as Python.
"""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bbllm import errors
from bbllm.planning import Code, is_done_line, refuse_if_impossible, withdrawals

MAX_CHARACTERS = 12_000
"""Longer programs come from models that repeat themselves."""
MAX_LINES = 300
MAX_DEPTH = 30
"""How deep values and blocks may be nested."""
FORMS = (
    'assignments, if, for over a list, while, try and except, and calls of the functions that are '
    'listed, with texts, numbers, names and lists as arguments'
)
"""What a program may have, for errors."""
ANY = ('FAILED', 'EXCEPTION')
"""Names for any failure."""
FAILURES: dict[str, Code] = {code.name: code for code in Code if code is not Code.NONE}

_FENCED = re.compile(r'```[^\n`]*\n(.*?)(?:```|\Z)', re.DOTALL)
_CAMEL = re.compile(r'(?<=[a-z0-9])(?=[A-Z])')
_STATEMENTS = (
    *(ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Try),
    *(ast.ExceptHandler, ast.Break, ast.Continue, ast.Pass, ast.Return),
)
_VALUES = (
    *(ast.Constant, ast.Name, ast.Call, ast.Subscript, ast.UnaryOp, ast.BinOp, ast.BoolOp),
    *(ast.Compare, ast.List, ast.Tuple, ast.IfExp, ast.ListComp, ast.comprehension),
)
_OPERATORS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd, ast.Not),
    *(ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
    *(ast.Is, ast.IsNot, ast.Load, ast.Store),
)
_ALLOWED = (ast.Module, *_STATEMENTS, *_VALUES, *_OPERATORS)
_WORDS: dict[type[ast.AST], str] = {
    ast.Import: 'an import',
    ast.ImportFrom: 'an import',
    ast.FunctionDef: 'a definition of a function',
    ast.AsyncFunctionDef: 'a definition of a function',
    ast.ClassDef: 'a class',
    ast.Lambda: 'a lambda',
    ast.Attribute: 'a dot behind a name',
    ast.JoinedStr: 'an f-string',
    ast.Dict: 'a dictionary',
    ast.Set: 'a set',
    ast.Slice: 'a slice',
    ast.Starred: 'a star',
    ast.NamedExpr: 'an assignment within a value',
    ast.Raise: 'a raise',
    ast.With: 'a with',
    ast.Assert: 'an assert',
    ast.Delete: 'a del',
    ast.Global: 'a global',
    ast.Pow: 'a power',
}


@dataclass(frozen=True, slots=True)
class Program:
    """A program whose every node is of the grammar."""

    tree: ast.Module
    lines: tuple[str, ...]
    withdrawn: tuple[tuple[str, str], ...] = ()
    """Conditions of the goal that the task does not ask for, and why."""

    @property
    def is_empty(self) -> bool:
        """Whether it does nothing: nothing is left to do."""
        return not self.tree.body

    def line(self, number: int) -> str:
        """Return a line by its number, from 1 on."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ''


def parse_program(text: str, functions: Collection[str]) -> Program:
    """
    Parse a reply: a program, in a block of code or alone, or `done`.

    Lines `goal: withdraw <condition>: <reason>` may stand anywhere in it.

    Args:
        text: The reply.
        functions: Names of all functions that a program may call.

    Raises:
        GaveUpError: It is `cannot: <reason>`.
        ParseError: It is no program of the grammar; names the line and what would be one.
    """
    goals = [line for line in text.splitlines() if any(withdrawals([line]))]
    text = '\n'.join('' if line in goals else line for line in text.splitlines())
    withdrawn = tuple(withdrawals(goals))
    block = _FENCED.search(text)
    source = (block[1] if block else text).strip('\n')
    lines = tuple(source.splitlines())
    words = [line.strip() for line in lines if line.strip() and not line.strip().startswith('#')]
    refuse_if_impossible(words[:1])
    if (words or withdrawn) and all(map(is_done_line, words)):
        return Program(ast.Module([], []), lines, withdrawn)
    if len(source) > MAX_CHARACTERS or len(lines) > MAX_LINES:
        raise errors.ParseError(
            f'The program has {len(lines)} lines and {len(source)} characters, of at most '
            f'{MAX_LINES} and {MAX_CHARACTERS}. Write a shorter one.'
        )
    if not words:
        raise errors.ParseError(f'There is no program in the reply. A program has {FORMS}.')
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        at = error.lineno or 0
        why = f'cannot be read: {error.msg}'
        raise _error(lines, at, why) from None
    except (ValueError, RecursionError, MemoryError):
        raise errors.ParseError(f'The program cannot be read. A program has {FORMS}.') from None
    _check(tree, lines, functions)
    return Program(tree, lines, withdrawn)


def failures_of(handler: ast.ExceptHandler) -> tuple[str, ...]:
    """Return the names of the failures that a handler catches, as codes have them."""
    if handler.type is None:
        return (ANY[0],)
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return tuple(_CAMEL.sub('_', each.id).upper() for each in names if isinstance(each, ast.Name))


def _check(tree: ast.Module, lines: tuple[str, ...], functions: Collection[str]) -> None:
    for node, depth in _walk(tree):
        line = getattr(node, 'lineno', 0)
        if depth > MAX_DEPTH:
            raise _error(lines, line, f'is nested more than {MAX_DEPTH} deep')
        if not isinstance(node, _ALLOWED):
            word = _WORDS.get(type(node), f'{type(node).__name__} of Python')
            raise _error(lines, line, f'has {word}, which a program cannot have')
        if why := _fault_of(node, functions):
            raise _error(lines, line, why)


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Yield all nodes with their depth, those of a line before those of the next."""
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in reversed([*ast.iter_child_nodes(node)])]


def _fault_of(node: ast.AST, functions: Collection[str]) -> str:
    """Return why a node of an allowed type is none of the grammar; '' where it is."""
    match node:
        case ast.Assign(targets=targets) if len(targets) != 1 or not _is_name(targets[0]):
            return 'assigns to more than one name'
        case ast.AugAssign(target=target) if not _is_name(target):
            return 'assigns to what is no name'
        case ast.For(target=target) | ast.comprehension(target=target) if not _is_name(target):
            return 'repeats over more than one name'
        case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
            return 'has an else behind a loop'
        case ast.Try() if node.finalbody or node.orelse or not node.handlers:
            return 'is a try with more than except'
        case ast.ListComp(generators=[_, _, *_]):
            return 'has a list of two loops'
        case ast.Return(value=value) if value is not None:
            return 'returns a value'
        case ast.Name(id=name) if name.startswith('_'):
            return f'uses the name {name[:40]!r}'
        case ast.Constant(value=value) if not isinstance(value, str | int | float | None):
            return f'has the value {str(value)[:40]!r}'
        case ast.Expr(value=ast.Name() | ast.BinOp() | ast.Compare() | ast.Subscript()):
            return 'is a value that nothing is done with'
        case ast.Call(func=ast.Name(id=name)) if name not in functions:
            return f'calls {name[:40]!r}, which is none of {", ".join(sorted(functions))}'
        case ast.Call() if node.keywords or not isinstance(node.func, ast.Name):
            return 'calls with names of arguments, or what is no name'
        case ast.ExceptHandler():
            unknown = {*failures_of(node)} - {*FAILURES, *ANY}
            named = node.type is None or failures_of(node)
            if unknown or not named:
                return f'catches {", ".join(sorted(unknown)) or "no name"}, which is no failure'
    return ''


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def _error(lines: tuple[str, ...], number: int, why: str) -> errors.ParseError:
    text = lines[number - 1].strip()[:80] if 0 < number <= len(lines) else ''
    return errors.ParseError(
        f'Line {number}, {text!r}, {why}. A program has {FORMS}; nothing else is understood.'
    )
