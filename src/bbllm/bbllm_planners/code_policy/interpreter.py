"""
Walks the tree of a checked program, statement by statement.

Values are numbers, texts, booleans, None and lists of these. What a call of a skill or of a query
does is the caller's: the interpreter has no access to anything else.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bbllm.planning import Code
from bbllm_planners.code_policy.grammar import ANY, Program, failures_of

Value = None | bool | int | float | str | list['Value']
Function = Callable[[Sequence[Value]], Value]
"""A skill, a query or a built-in function; raises ProgramError for arguments that do not do."""

MAX_WORK = 5_000
"""How many nodes a program may evaluate."""
MAX_LOOP = 200
"""How often a loop may be repeated."""
MAX_LENGTH = 200
"""How long a list [items] or a text [characters] may be."""
MAX_NUMBER = 1e9


class ProgramError(Exception):
    """A fault of the program: its line, and what would have worked."""

    def __init__(self, why: str, line: int = 0):
        super().__init__(why)
        self.line = line


class SkillFailedError(Exception):
    """A call of a skill that was refused or failed; a program may catch it by its code."""

    def __init__(self, code: Code, cause: str, *, final: bool = False):
        super().__init__(cause)
        self.code = code
        self.final = final
        """Whether no program may catch it: a person's word."""
        self.line = 0


class _LeaveLoopError(Exception):
    """`break`."""


class _NextRoundError(Exception):
    """`continue`."""


class _EndProgramError(Exception):
    """`return`."""


_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass
class Interpreter:
    """Runs programs with some functions; the names of one program are not those of the next."""

    functions: Mapping[str, Function]

    def run(self, program: Program) -> None:
        """
        Run a program to its end.

        Raises:
            SkillFailedError: A call failed, and the program does not catch that; has the line.
            ProgramError: A value or an argument does not do, or a bound is met; has the line.
        """
        self._names: dict[str, Value] = {}
        self._work = 0
        try:
            self._block(program.tree.body)
        except _EndProgramError:
            return
        except (_LeaveLoopError, _NextRoundError):
            raise ProgramError('a break or continue stands in no loop') from None
        except RecursionError:
            raise ProgramError('it is nested too deep') from None

    # --- statements ----------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            try:
                self._statement(statement)
            except (ProgramError, SkillFailedError) as error:
                error.line = error.line or statement.lineno
                raise

    def _statement(self, node: ast.stmt) -> None:
        self._spend()
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._names[name] = self._value(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self._names[name] = self._binary(op, self._named(name), self._value(value))
            case ast.Expr(value=value):
                self._value(value)
            case ast.If():
                self._block(node.body if self._value(node.test) else node.orelse)
            case ast.For(target=ast.Name(id=name)):
                for item in self._items(node.iter):
                    self._names[name] = item
                    if not self._goes_on(node.body):
                        break
            case ast.While():
                rounds = 0
                while self._value(node.test):
                    rounds += 1
                    if rounds > MAX_LOOP:
                        raise ProgramError(
                            f'the loop was repeated {MAX_LOOP} times; one whose condition '
                            'becomes False would end'
                        )
                    if not self._goes_on(node.body):
                        break
            case ast.Try():
                self._try(node)
            case ast.Break():
                raise _LeaveLoopError
            case ast.Continue():
                raise _NextRoundError
            case ast.Return():
                raise _EndProgramError

    def _goes_on(self, body: Sequence[ast.stmt]) -> bool:
        """Run the body of a loop once; return whether the loop goes on."""
        try:
            self._block(body)
        except _LeaveLoopError:
            return False
        except _NextRoundError:
            pass
        return True

    def _try(self, node: ast.Try) -> None:
        try:
            self._block(node.body)
        except SkillFailedError as failure:
            for handler in node.handlers:
                caught = failures_of(handler)
                if failure.final or not (failure.code.name in caught or {*ANY} & {*caught}):
                    continue
                if handler.name:
                    self._names[handler.name] = str(failure)[:MAX_LENGTH]
                self._block(handler.body)
                return
            raise

    # --- values --------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Value:
        self._spend()
        match node:
            case ast.Constant(value=value):
                return self._bounded(value)  # type: ignore[arg-type]
            case ast.Name(id=name):
                return self._named(name)
            case ast.Call(func=ast.Name(id=name)):
                return self._bounded(self.functions[name]([self._value(x) for x in node.args]))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._bounded([self._value(each) for each in items])
            case ast.Subscript():
                return self._item(self._value(node.value), self._value(node.slice))
            case ast.UnaryOp(op=ast.Not()):
                return not self._value(node.operand)
            case ast.UnaryOp(op=op):
                number = _number(self._value(node.operand))
                return -number if isinstance(op, ast.USub) else number
            case ast.BinOp():
                return self._binary(node.op, self._value(node.left), self._value(node.right))
            case ast.BoolOp(op=ast.And()):
                return self._first(node.values, until=False)
            case ast.BoolOp():
                return self._first(node.values, until=True)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self._value(node.body if self._value(node.test) else node.orelse)
            case ast.ListComp(generators=[loop]):
                return self._listed(node, loop)
        raise ProgramError('it has a value that cannot be computed')

    def _named(self, name: str) -> Value:
        if name not in self._names:
            known = ', '.join(self._names) or 'none so far'
            raise ProgramError(
                f'no name {name!r} was assigned before; assigned: {known}. Names of objects stand '
                "in quotes, such as 'red_cube'"
            )
        return self._names[name]

    def _items(self, node: ast.expr) -> list[Value]:
        found = self._value(node)
        if not isinstance(found, list):
            raise ProgramError(f'{str(found)[:60]!r} is no list to repeat over')
        if len(found) > MAX_LOOP:
            raise ProgramError(f'the list has {len(found)} items, of at most {MAX_LOOP} in a loop')
        return list(found)

    def _item(self, values: Value, index: Value) -> Value:
        if not isinstance(values, list | str) or type(index) is not int:
            raise ProgramError('only an item of a list by its number can be taken, such as p[0]')
        if not -len(values) <= index < len(values):
            raise ProgramError(f'there is no item {index} of {len(values)}')
        return values[index]

    def _binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(op, ast.Add):
            if isinstance(left, list) and isinstance(right, list):
                return self._bounded([*left, *right])
            if isinstance(left, str) and isinstance(right, str):
                return self._bounded(left + right)
        try:
            return self._bounded(_BINARY[type(op)](_number(left), _number(right)))
        except (ZeroDivisionError, OverflowError):
            raise ProgramError('it divides by zero, or the number is too large') from None

    def _first(self, nodes: Sequence[ast.expr], *, until: bool) -> Value:
        value: Value = None
        for node in nodes:
            value = self._value(node)
            if bool(value) is until:
                break
        return value

    def _compare(self, node: ast.Compare) -> bool:
        left = self._value(node.left)
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self._value(other)
            if not self._holds(op, left, right):
                return False
            left = right
        return True

    def _holds(self, op: ast.cmpop, left: Value, right: Value) -> bool:
        if isinstance(op, ast.Eq | ast.Is):
            return left == right
        if isinstance(op, ast.NotEq | ast.IsNot):
            return left != right
        if isinstance(op, ast.In | ast.NotIn):
            if isinstance(right, str) and isinstance(left, str):
                return (left in right) is isinstance(op, ast.In)
            if not isinstance(right, list):
                raise ProgramError('`in` needs a list behind it')
            return (left in right) is isinstance(op, ast.In)
        return _ORDER[type(op)](_number(left), _number(right))

    def _listed(self, node: ast.ListComp, loop: ast.comprehension) -> Value:
        assert isinstance(loop.target, ast.Name)  # the grammar looked
        outer, found = dict(self._names), list[Value]()
        for item in self._items(loop.iter):
            self._names[loop.target.id] = item
            if all(self._value(test) for test in loop.ifs):
                found.append(self._value(node.elt))
        self._names = outer
        return self._bounded(found)

    def _bounded(self, value: Value) -> Value:
        if isinstance(value, list):
            inner = [each for each in value if isinstance(each, list)]
            # Lists that share lists would make one comparison as long as wanted.
            if any(isinstance(item, list) for each in inner for item in each):
                raise ProgramError('it has lists within lists within lists')
            length = len(value) + sum(map(len, inner))
        else:
            length = len(value) if isinstance(value, str) else 0
        if length > MAX_LENGTH:
            raise ProgramError(f'a list or text has {length} items, of at most {MAX_LENGTH}')
        if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
            raise ProgramError(f'a number is beyond {MAX_NUMBER:g}')
        return value

    def _spend(self) -> None:
        self._work += 1
        if self._work > MAX_WORK:
            raise ProgramError(
                f'the program computes more than {MAX_WORK} values; a shorter one would do'
            )


def _number(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ProgramError(f'{str(value)[:60]!r} is no number')
    return value


def is_number(value: Value) -> bool:
    """Return whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ints(values: Sequence[Value]) -> list[int]:
    if not values or not all(type(each) is int for each in values):
        raise ProgramError('`range` takes whole numbers')
    return [each for each in values if isinstance(each, int)]


def _range(values: Sequence[Value]) -> Value:
    numbers = _ints(values)
    if len(numbers) > 3 or (len(numbers) == 3 and numbers[2] == 0):
        raise ProgramError('`range` takes one to three whole numbers, the third not 0')
    steps = range(*numbers)
    if len(steps) > MAX_LOOP:
        raise ProgramError(f'`range` has {len(steps)} numbers, of at most {MAX_LOOP}')
    return [*steps]


def _of_list(name: str, function: Callable[[list[float]], float]) -> Function:
    def of(values: Sequence[Value]) -> Value:
        items = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        if not items:
            raise ProgramError(f'`{name}` takes at least one number')
        return function([_number(each) for each in items])

    return of


def _one(name: str, values: Sequence[Value]) -> Value:
    if len(values) != 1:
        raise ProgramError(f'`{name}` takes one value, not {len(values)}')
    return values[0]


def _length(values: Sequence[Value]) -> Value:
    found = _one('len', values)
    if not isinstance(found, list | str):
        raise ProgramError('`len` takes a list')
    return len(found)


def _sorted(values: Sequence[Value]) -> Value:
    found = _one('sorted', values)
    texts = isinstance(found, list) and all(isinstance(each, str) for each in found)
    if not isinstance(found, list) or not (texts or all(map(is_number, found))):
        raise ProgramError('`sorted` takes a list of texts or of numbers')
    return sorted(found)  # type: ignore[type-var]


BUILT_IN: Mapping[str, Function] = {
    'len': _length,
    'range': _range,
    'sorted': _sorted,
    'list': lambda values: _one('list', values),
    'abs': lambda values: abs(_number(_one('abs', values))),
    'round': lambda values: round(_number(_one('round', values)), 4),
    'min': _of_list('min', min),
    'max': _of_list('max', max),
    'print': lambda values: None,
}
"""Functions beside skills and queries."""
