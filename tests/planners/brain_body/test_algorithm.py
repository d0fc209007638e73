"""The loop is short enough to be compared with Algorithm 1 of the paper."""

import ast
import inspect
import textwrap

from bbllm.planners.brain_body.planner import BrainBody

BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension)


def complexity(source: str) -> int:
    """Return McCabe's complexity, in which each operand of `and` and `or` counts."""
    nodes = [*ast.walk(ast.parse(textwrap.dedent(source)))]
    operands = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + operands + sum(isinstance(node, BRANCHES) for node in nodes)


def test_the_loop_fits_on_a_screen_and_has_few_branches() -> None:
    loop = inspect.getsource(BrainBody.run)

    assert len(loop.splitlines()) <= 35
    assert complexity(loop) <= 10
