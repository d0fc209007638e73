"""Writes calls as each planner of the table takes them in a reply, for stand-ins of benchmarks."""

from collections.abc import Sequence

from bbllm.core.protocols import PromptRequest
from bbllm.core.registry import plain_name
from bbllm.core.types import Scene
from bbllm.skills.shapes import top_z
from bbllm_bench.oracle.hidden_search import GRIP_BELOW_TOP_M
from bbllm_bench.oracle.model import our_planners
from bbllm_bench.oracle.reply_format import PlanLine, final_places, plan_reply

PLANNERS = our_planners('tabletop')
"""The planners whose form is known: all of this project that play on the table."""
LEFT = 'This is left.'


def reply_in_form(
    planner: str,
    request: PromptRequest,
    lines: Sequence[PlanLine],
    scene: Scene,
) -> str:
    """
    Return the reply to a planner's request for a plan, or for a verdict on what is left.

    Args:
        planner: One of `PLANNERS`, with options or without.
        request: What it asks, but for calls of a Body.
        lines: The calls that are left, with words for planners whose plans are in words.
        scene: The scene of the request.
    """
    name = plain_name(planner)
    calls = [f'{line.skill}({", ".join(line.args)})' for line in lines]
    match name, request.kind:
        case _, 'check':
            return str(not lines)
        case _, 'planning_goal':
            return final_places(lines, scene)
        case 'llm_pop' | 'llm_pop_no_evaluator', 'evaluate':
            return f'FAIL\n{LEFT}' if lines else 'SUCCESS\nAll is done.'
        case 'llm_pop' | 'llm_pop_no_evaluator', _:
            actions = [f'ACTION {_pop_action(line, lines, scene)}' for line in lines] or ['DONE']
            return '\n'.join(['EXPLAIN', LEFT, 'EXECUTE', *actions])
        case 'llm_state', 'attention' | 'estimate':
            return 'none'
        case 'llm_state', _:
            return '\n'.join(['Low-level Action Plan:', *(calls or ['done'])])
        case 'inner_monologue', _:
            return f'{LEFT}\nRobot action: {[*calls, "done"][0]}'
    return plan_reply(request, lines, 'rob0')


def _pop_action(line: PlanLine, lines: Sequence[PlanLine], scene: Scene) -> str:
    if line.skill == 'return_to_base':
        return 'RESET'
    if line.skill != 'place':
        return ' '.join((line.skill.upper(), *line.args))
    _, pose = _put_down(line, lines, scene)
    return f'PLACE [{" ".join(f"{number:.4f}" for number in pose)}]'


def _put_down(
    line: PlanLine, lines: Sequence[PlanLine], scene: Scene
) -> tuple[str | None, tuple[float, ...]]:
    """Return what a `place` sets down, and the pose of the hand, x y z qx qy qz qw, for it [m]."""
    before = lines[: lines.index(line)]
    picked = [each.args[0] for each in before if each.skill == 'pick']
    name = picked[-1] if picked else scene.held
    if name is None:
        return None, ()  # an order of nonsense, which the planner's grammar refuses
    item, target = scene.object(name), scene.object(line.args[0])
    above_m, turn = item.size_m[2] / 2 - GRIP_BELOW_TOP_M, (1.0, 0.0, 0.0, 0.0)
    if name == scene.held and scene.hand is not None:
        above_m = scene.hand.tcp.position_m[2] - item.pose.position_m[2]
        turn = scene.hand.tcp.quat_xyzw
    x, y, _ = target.pose.position_m
    return name, (x, y, top_z(target) + item.size_m[2] / 2 + above_m, *turn)
