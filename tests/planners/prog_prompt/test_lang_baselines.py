"""LangPrompt and the zero-shot planner: steps in words, which something else makes calls of."""

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.protocols import PASS, Pass
from bbllm.core.registry import load_planner
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.assembly import check_mapping
from bbllm.planners.body.mapping import MappingMethod
from bbllm.planners.common.matching import MatchingBody
from bbllm.testing import ScriptedModel
from bbllm_planners.prog_prompt.huang import MAX_STEPS, Actions, Huang
from bbllm_planners.prog_prompt.lang_prompt import LangPrompt
from bbllm_planners.prog_prompt.program import written
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


def zero_shot(model: ScriptedModel, **options: str) -> Huang:
    return Huang(
        model,
        MatchingBody(LexicalEmbedder()),
        options=chosen('huang', grounding='nearest', **options),
    )


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


def test_the_zero_shot_planner_takes_the_nearest_action_of_each_step() -> None:
    world, context = SmallHouse(), Diary()
    texts = [*STEPS[:3], 'open up the fridge door', *STEPS[4:]]
    replies = [f'{i}: {text}' for i, text in enumerate([*texts, 'Done'])]
    model = ScriptedModel(replies)

    zero_shot(model).run(Task('t', 'put lime in fridge'), world, context)

    assert world.calls == CALLS
    assert context.failed == []
    last = model.requests[-1].prompt
    assert 'Task: put apple in fridge' in last  # the example whose task is nearest
    assert '3: open fridge\n4: put lime in fridge' in last  # the actions, in place of its words
    assert 'open up' not in last
    assert 'What is there' not in last


def test_a_model_that_is_never_done_is_asked_for_so_many_steps() -> None:
    world, context = SmallHouse(), Diary()
    model = ScriptedModel([f'{i}: find the mug' for i in range(99)])

    zero_shot(model).run(TASK, world, context)

    assert world.calls == ['find(mug_12)'] * MAX_STEPS
    assert f'not done after {MAX_STEPS} steps' in context.warnings[0]


@pytest.mark.parametrize(
    ('text', 'call'),
    [
        ('walk over to the kitchen', "walk('kitchen')"),
        ('turn the faucet on: switch on', "switchon('faucet')"),
        ('open the table or the fridge', "open('fridge')"),  # a table cannot be opened
        ('stand up', 'standup()'),
        ('put mug in sink', "putin('mug', 'sink')"),
        ('put mug back on coffeetable', "putback('mug', 'coffeetable')"),
    ],
)
def test_actions_are_admissible_by_affordances(text: str, call: str) -> None:
    actions = Actions(SmallHouse().observe(), LexicalEmbedder())

    assert written(actions.nearest(text)) == call


def test_the_zero_shot_planner_is_refused_without_an_embedder_with_what_would_work() -> None:
    factory = load_planner('huang:correction=no')

    check_mapping('huang', factory, MappingMethod.EMBEDDING)
    with pytest.raises(ConfigError, match=r'the mapping is auto\. Use `--mapping embedding`'):
        check_mapping('huang', factory, MappingMethod.AUTO)
    with pytest.raises(ConfigError, match='Run it without a stack'):
        check_mapping('huang', factory, None)
    with pytest.raises(ConfigError, match=r'its Body is words\. Use --mapping embedding'):
        factory.build(ScriptedModel(), WordBody(), k=0)
    check_mapping('lang_prompt', load_planner('lang_prompt'), MappingMethod.AUTO)
