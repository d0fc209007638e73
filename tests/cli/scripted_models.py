"""Models that follow a script, for tests of the command line."""

import re

from bbllm.core.protocols import ModelRequest
from bbllm.llm.models.factory import Models
from bbllm.testing import ScriptedModel

PLAN = '0: pick red_cube\n1: place it on location_B\n2: pick aqua_cube\n3: place it on location_C'
REPAIR = (
    'Explanation: it is too far away.\nNew plan:\n2: pick green_cube\n3: place it on location_C'
)


def body_of(request: ModelRequest) -> str:
    """Turn `pick X` and `place it on Y` into calls, and pass on all else."""
    single = re.findall(r'Step: (.*)', request.prompt)
    if single:
        return call_of(single[-1])
    *_, plan, numbers = re.split(r'\nPlan:\n|\nSteps to turn into calls: ', request.prompt)
    steps = dict(re.findall(r'(\d+): (.*)', plan))
    return '\n'.join(f'{n}: {call_of(steps[n])}' for n in re.findall(r'\d+', numbers))


def call_of(step: str) -> str:
    """Return the call of a step."""
    pick = re.match(r'pick (\w+)', step)
    place = re.match(r'place it on (\w+)', step)
    if pick:
        return f'<rob0>[pick] <{pick.group(1)}>'
    if place:
        return f'<rob0>[place] <{place.group(1)}>'
    return '<pass>'


def models(*replies: str, calls: int = 40, goal: str = 'none') -> Models:
    """Return a Brain that gives these replies, or a goal, and a Body that understands them."""
    plans = iter(replies or (PLAN, REPAIR))

    def reply(request: ModelRequest) -> str:
        return goal if request.prompt.endswith('Conditions:') else next(plans)

    return Models(
        ScriptedModel([reply] * (1 + len(replies or (PLAN, REPAIR))), name='script'),
        ScriptedModel([body_of] * calls, name='script'),
        ('Brain and Body follow a script.',),
    )
