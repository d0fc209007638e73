"""A stand-in that answers all planners of the table in one task, from the scene of a request."""

from bbllm.core.protocols import PromptRequest
from bbllm.core.types import Scene
from bbllm_bench.benchmarks.reply_forms import reply_in_form
from bbllm_bench.oracle.reply_format import PlanLine
from bbllm_bench.oracle.step_mapping import call_lines

THING, PLACE = 'red_cube', 'location_B'
TASK = 'put the red cube on location_B'
GOAL = f'on({THING}, {PLACE})'
PICK = PlanLine('pick', (THING,), 'lift the red cube')
PUT = PlanLine('place', (PLACE,), f'set it down on {PLACE}')


def is_done(scene: Scene) -> bool:
    return scene.has(THING, 'on', PLACE)


def answer(planner: str, request: PromptRequest) -> str:
    """Return the reply to a planner's request: what is left of `TASK`, in the planner's form."""
    if request.kind == 'call':
        return call_lines(request)
    scene = request.scene
    assert scene is not None  # every planner of this project declares it
    left = [] if is_done(scene) else [PUT] if scene.held == THING else [PICK, PUT]
    return reply_in_form(planner, request, left, scene)
