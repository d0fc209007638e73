"""LangPrompt: steps in words, which a Body makes calls of."""

from bbllm.core.protocols import PASS, Pass
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.testing import ScriptedModel
from bbllm_planners.prog_prompt.lang_prompt import LangPrompt
from bbllm_planners.prog_prompt.prompting import offered
from tests.planners.chosen import chosen
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary

TASK = Task('t', 'put the lime in the fridge')
DONE = {
    **{'find the lime': 'find(lime_11)', 'grab the lime': 'grab(lime_11)'},
    **{'find the fridge': 'find(fridge_33)', 'open the fridge': 'open(fridge_33)'},
    'put the lime in the fridge': 'putin(lime_11, fridge_33)',
    'close the fridge': 'close(fridge_33)',
}
STEPS, CALLS = [*DONE], [*DONE.values()]
NUMBERED = '\n'.join(f'{i}: {text}' for i, text in enumerate(STEPS))


class WordBody:
    """A Body of another package, which answers in classes, step by step."""

    name, reads_calls = 'words', True

    def __init__(self) -> None:
        self.shown: list[Scene] = []

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        self.shown.append(scene)
        verb, *rest = step.text.replace('the ', '').replace('put ', 'putin ').split()
        objects = tuple(word for word in rest if word != 'in')
        return PASS if verb == 'think' else SkillCall(verb, objects)


def test_lang_prompt_carries_out_the_calls_that_its_body_makes_of_steps() -> None:
    world, context, body = SmallHouse(), Diary(), WordBody()
    model = ScriptedModel([f'{NUMBERED}\n6: think\n7: Done'])

    LangPrompt(model, body, options=chosen('lang_prompt', grounding='nearest')).run(
        TASK, world, context
    )

    assert world.calls == CALLS
    assert world.has('lime_11', 'inside', 'fridge_33')
    assert (context.failed, context.lines[-1]) == ([], 'pass 6')
    assert context.warnings == ["Step 6 ('think') was passed: no listed action does what it says."]
    assert 'lime is lime_11 (nearest of 1)' in context.lines
    shown = {skill.name for skill in body.shown[0].skills}
    assert shown == {skill.name for skill in offered(SmallHouse().observe())}  # as its Brain


def test_a_step_that_cannot_be_done_fails_and_the_next_is_tried() -> None:
    world, context = SmallHouse(), Diary()
    model = ScriptedModel(['0: grab the unicorn\n1: find the mug'])

    LangPrompt(model, WordBody()).run(TASK, world, context)

    assert world.calls == ['find(mug_12)']
    ((index, cause),) = context.failed
    assert index == 0
    assert "There is no 'unicorn'" in cause
