"""A stand-in that answers all planners of the table in one task, from the scene of a request."""

from dataclasses import replace

from bbllm.core.protocols import PromptRequest
from bbllm.core.types import Scene
from bbllm_bench.oracle.hidden_search import GRIP_BELOW_TOP_M
from bbllm_bench.oracle.reply_format import PlanLine, plan_reply
from bbllm_bench.oracle.step_mapping import call_lines

THING, PLACE = 'red_cube', 'location_B'
TASK = 'put the red cube on location_B'
GOAL = f'on({THING}, {PLACE})'
PICK = PlanLine('pick', (THING,), 'lift the red cube')
PUT = PlanLine('place', (PLACE,), f'set it down on {PLACE}')

ANSWERED = (
    *('base_llm', 'brain_body', 'ft_cot', 'ft_vanilla', 'huang', 'inner_monologue'),
    *('lang_prompt', 'llm_pop', 'llm_pop_no_evaluator', 'llm_state', 'prog_prompt'),
)
"""The planners that are answered: all of this project that play on the table."""


def is_done(scene: Scene) -> bool:
    return scene.has(THING, 'on', PLACE)


def answer(planner: str, request: PromptRequest) -> str:
    """Return the reply to a planner's request: what is left of `TASK`, in the planner's format."""
    scene = request.scene
    assert scene is not None  # every planner of this project declares it
    left = [] if is_done(scene) else [PUT] if scene.held == THING else [PICK, PUT]
    calls = [f'{line.skill}({", ".join(line.args)})' for line in left]
    match planner, request.kind:
        case _, 'call':
            return call_lines(request)
        case _, 'check':
            return str(is_done(scene))
        case 'llm_pop' | 'llm_pop_no_evaluator', 'evaluate':
            return f'{"FAIL" if left else "SUCCESS"}\nThis is what the scene shows.'
        case 'llm_pop' | 'llm_pop_no_evaluator', _:
            actions = [f'ACTION {_pop_action(line, scene)}' for line in left] or ['DONE']
            return '\n'.join(['EXPLAIN', 'This is left.', 'EXECUTE', *actions])
        case 'ft_cot' | 'ft_vanilla', 'enough':
            return 'EXPLAIN: Yes. Nothing is hidden.\nACTION: <nooutput>'
        case 'ft_cot' | 'ft_vanilla', _:
            written = f'[{", ".join(_ft_call(line, scene) for line in left)}]'
            return f'EXPLAIN: This is left.\nACTION: {written if left else "<nooutput>"}'
        case 'llm_state', 'attention' | 'estimate':
            return 'none'
        case 'llm_state', _:
            return '\n'.join(['Low-level Action Plan:', *(calls or ['done'])])
        case 'inner_monologue', _:
            return f'This comes next.\nRobot action: {[*calls, "done"][0]}'
        case 'huang', _:  # the words that are nearest to those of the call
            left = [replace(line, words=f'{line.skill} {line.args[0]}') for line in left]
    return plan_reply(request, left, 'rob0')


def _pop_action(line: PlanLine, scene: Scene) -> str:
    return f'PICK {THING}' if line.skill == 'pick' else f'PLACE [{_tcp(scene)} 1 0 0 0]'


def _ft_call(line: PlanLine, scene: Scene) -> str:
    at = ', '.join(_tcp(scene).split())
    return (
        f"pick('{THING}')" if line.skill == 'pick' else f"place('{THING}', [{at}], [1, 0, 0, 0])"
    )


def _tcp(scene: Scene) -> str:
    """Return where the tool centre point sets the object down on its place [m]."""
    x, y, _ = scene.object(PLACE).pose.position_m
    thing = scene.object(THING)
    half = thing.size_m[2] / 2
    above = half - GRIP_BELOW_TOP_M
    if scene.held == THING and scene.hand is not None:
        above = scene.hand.tcp.position_m[2] - thing.pose.position_m[2]
    return f'{x:.4f} {y:.4f} {half + above:.4f}'
