"""BrainBody-LLM and Base-LLM in a household: answers in classes, refusals in its own words."""

from typing import Any

from bbllm.core.protocols import Pass, StepFailure
from bbllm.core.types import Plan, PlanStep, Task
from bbllm.planners.body.mapping import BodyLLM
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.brain_body.prompting import Prompts
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import USER
from bbllm.planners.domains.household.actions import shown_to_body
from bbllm.planners.domains.scene_graph import scene_graph
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.world import HouseholdWorld
from tests.planners.chosen import chosen
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary

TASK = Task('t', 'put the salmon in the fridge')
PLAN = """0: walk to the salmon
1: grab the salmon
2: walk to the fridge
3: put the salmon in the fridge
4: Done"""
REPAIR = """Explanation: the fridge is closed.
New plan:
3: open the fridge
4: put the salmon in the fridge
5: Done"""
WALK, GRAB = '<char0>[walk] <salmon>', '<char0>[grab] <salmon>'
GO, OPEN = '<char0>[walktowards] <fridge>', '<char0>[open] <fridge>'
PUT = '<char0>[putin] <salmon><fridge>'
BODY = [WALK, GRAB, GO, PUT, OPEN, PUT]
FEEDBACK_LABELS = (
    *('Objects in the scene:', 'Available actions:', 'Environment:', 'Task:', 'Earlier plan:'),
    *('Error step:', 'Feedback:', 'Controller:', 'Human feedback:', 'Earlier feedback:'),
    'Explanation:',
)


def play(
    world: Any, context: Any, plans: list[Any], body: list[Any], *, k: int = 3, **options: str
) -> Any:
    brain, answers = ScriptedModel(plans), ScriptedModel(body)
    BrainBody(brain, BodyLLM(answers), k=k, options=chosen('brain_body', **options)).run(
        TASK, world, context
    )
    return brain, answers


def test_a_refusal_goes_to_the_brain_in_virtualhomes_own_words_and_is_repaired() -> None:
    world = SmallHouse()
    context = Diary()

    brain, _ = play(world, context, [PLAN, REPAIR], BODY)

    feedback = brain.requests[1].prompt
    expected = (
        '<fridge> (33) is not open or is not openable when executing '
        '"[PUTIN] <salmon> (13) <fridge> (33) [0]"'
    )
    by_class = (  # the environment has no ids, and there are two salmon
        '<fridge> is not open or is not openable when executing '
        '"[PUTIN] <salmon> (in a hand) <fridge> [0]"'
    )
    assert f'Feedback: {by_class}\nController: not_open\n' in feedback
    assert context.repairs == [expected]
    assert world.has('salmon_13', 'inside', 'fridge_33')
    assert world.calls[2] == 'walk(fridge_33)'  # walktowards goes all the way


def test_at_a_table_the_plate_is_the_one_on_it_and_none_in_a_closed_cabinet() -> None:
    context, world = Diary(), HouseholdWorld('family_flat')
    on_table = scene_graph(world.observe()).placed
    plan = '0: walk to the kitchentable\n1: grab the plate\n2: Done'
    body = ['<char0>[walk] <kitchentable>', '<char0>[grab] <plate>']

    play(world, context, [plan], body, k=0)

    assert context.failed == []
    assert scene_graph(world.observe()).held == ('plate_174',)
    assert ('plate_174', 'on', 'kitchentable_169') in on_table


def test_the_policy_of_a_planner_is_its_option() -> None:
    picked = set()
    for number in range(20):
        context, world = Diary(), SmallHouse()
        brain = ScriptedModel(['0: walk to the salmon\n1: Done'])
        planner = BrainBody(
            brain, BodyLLM(ScriptedModel([WALK])), options=chosen('brain_body', grounding='random')
        )
        planner.run(Task(f't{number}', 'go to the salmon'), world, context)
        assert any('(random of 2)' in line for line in context.lines)
        picked.update(world.calls)

    assert picked == {'walk(salmon_13)', 'walk(salmon_14)'}


def test_a_turn_is_passed_over_and_what_is_in_no_hand_refused_by_the_house_itself() -> None:
    context, world = Diary(), SmallHouse()
    plan = '0: turn to the left\n1: put the salmon in the fridge\n2: Done'

    play(world, context, [plan], ['<char0>[turnleft]', PUT], k=0)

    assert 'pass 0' in context.lines
    (warning,) = context.warnings
    assert "('turn to the left') was passed: " in warning
    assert warning.endswith('turnleft changes nothing in a household, which has no positions.')
    ((step, cause),) = context.failed
    assert step == 1
    assert cause.startswith('<character> (40) is not holding <salmon> (13) when executing ')


def test_the_examples_of_the_prompts_can_be_read_as_replies() -> None:
    scene = HouseholdWorld('family_flat').observe()
    plan = Plan((PlanStep(0, 'walk to milk'),))
    repair = Prompts().feedback(TASK, scene, plan, StepFailure(plan.steps[0], 'lost'), ())
    planning, example = repair.split('\n\nExample, of another scene:\n\n')[1:]
    direct, _, _ = Prompts().direct(TASK, scene).partition('\n\nEnd of the examples.')
    programs = direct.split('Program:\n')[1:]

    assert len(parse_plan(planning.split(USER)[0])) == 6
    assert len(parse_plan(example.split('\n\nThe real')[0].rpartition('New plan:')[2], 3)) == 3
    shown = shown_to_body(scene)
    for program in programs[:-1]:
        for step in parse_plan(program.split('\n\n')[0]):
            if 'clothespile' not in step.text:  # which this flat does not have
                assert not isinstance(parse_call(step.text, shown), Pass)
