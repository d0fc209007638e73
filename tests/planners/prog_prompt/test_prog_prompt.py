"""ProgPrompt: a program is interpreted call by call in a household under VirtualHome's rules."""

from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.protocols import ChatModel, ModelRequest
from bbllm.core.types import Task
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import Visibility
from bbllm_planners.prog_prompt.grammar import parse_rest
from bbllm_planners.prog_prompt.planner import MAX_PROGRAMS, STEPS_OF_A_SUB_GOAL, ProgPrompt
from bbllm_planners.prog_prompt.program import written
from tests.planners.chosen import chosen, opening
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary

TASK = Task('t', 'put the salmon in the fridge')
NOBODY: Any = None
FRIDGE = """# 1: take the salmon
assert('close' to 'salmon')
\telse: find('salmon')
grab('salmon')
# 2: put it in the fridge
find('fridge')
open('fridge')
assert('salmon' in 'hands')
\telse: grab('salmon')
putin('salmon', 'fridge')
close('fridge')"""


def play(program: str | ChatModel, world: SmallHouse, context: Any, **options: str) -> Any:
    options = {'check': 'graph', 'grounding': 'nearest', **options}
    # A program with a name that does not exist is asked for once more.
    model = ScriptedModel([program, program]) if isinstance(program, str) else program
    ProgPrompt(model, NOBODY, options=chosen('prog_prompt', **options)).run(TASK, world, context)
    return context


def test_a_program_is_carried_out_and_repairs_what_it_asserts() -> None:
    world = SmallHouse()

    context = play(FRIDGE, world, Diary())

    assert world.calls == [
        'find(salmon_13)',
        'grab(salmon_13)',
        'find(fridge_33)',
        'open(fridge_33)',
        'putin(salmon_13, fridge_33)',
        'close(fridge_33)',
    ]
    assert world.has('salmon_13', 'inside', 'fridge_33')
    assert world.has('fridge_33', 'is', 'closed')
    assert context.failed == []
    checks = [line for line in context.lines if ' by graph' in line]
    assert checks == ["'close' to 'salmon': False by graph", "'salmon' in 'hands': True by graph"]
    first, second = context.plans  # a recovery that is run becomes a step
    assert [step.text for step in first.steps][:2] == ["grab('salmon')", "find('fridge')"]
    assert [step.text for step in second.steps][:2] == ["find('salmon')", "grab('salmon')"]
    assert [step.index for step in second.steps] == list(range(len(first.steps) + 1))
    steps = [line for line in context.lines if line.startswith('step ')]
    assert steps == [f'step {step}' for step in second.steps]


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ("putin('salmon', 'fridge')", 'salmon is not in a hand, so putin can put it nowhere'),
        ("putin('unicorn', 'fridge')", "There is no 'unicorn' in the scene. The nearest names: "),
        ("find('frigde')", "There is no 'frigde' in the scene. The nearest names: fridge, "),
        ("levitate('salmon')", "There is no skill named 'levitate'"),
        ("grab('salmon', 'fridge')", 'grab takes object, but got 2 arguments'),
        ('grab()', 'grab takes object, but got 0 arguments'),
        ("grab('salmon')", 'is not close to'),
        ("open('fridge')", 'is not close to'),
    ],
)
def test_a_call_that_cannot_be_done_fails_and_the_program_goes_on(
    line: str, expected: str
) -> None:
    world = SmallHouse()

    context = play(f"{line}\nfind('mug')", world, Diary())

    ((index, cause),) = context.failed
    assert (index, expected in cause) == (0, True), cause
    assert world.calls[-1] == 'find(mug_12)'


def test_a_part_makes_ten_calls_and_the_rest_of_it_is_left_out() -> None:
    world = SmallHouse()
    many = "find('mug')\nfind('lime')\n" * 8

    context = play(f"# 1: walk about\n{many}# 2: go on\nfind('fridge')", world, Diary())

    assert len(world.calls) == STEPS_OF_A_SUB_GOAL + 1
    assert world.calls[-1] == 'find(fridge_33)'
    ((index, cause),) = context.failed
    assert index == STEPS_OF_A_SUB_GOAL
    assert "'1: walk about' has made 10 calls" in cause
    assert 'its last 6 are left out' in cause
    assert context.lines[-2] == "step 16: find('fridge')"


def test_the_model_is_asked_only_for_what_the_scene_does_not_list() -> None:
    listed = "assert('close' to 'salmon')\nelse: find('salmon')\nassert('fridge' is 'closed')\n"
    model = ScriptedModel([f"{listed}assert('salmon' is 'hot')\nelse: grab('salmon')", 'False'])

    context = play(model, SmallHouse(), Diary(), check='listed')

    checks = [line for line in context.lines if ' by ' in line]
    assert checks == [
        "'close' to 'salmon': False by graph",
        "'fridge' is 'closed': True by graph",
        "'salmon' is 'hot': False by model",
    ]
    assert len(model.requests) == 2


def test_an_unreadable_verdict_runs_the_recovery_and_is_reported() -> None:
    world = SmallHouse()
    program = "assert('close' to 'mug')\nelse: find('mug')\ngrab('mug')"

    context = play(ScriptedModel([program, 'Hm.', 'Hm.']), world, Diary(), check='model')

    assert world.calls == ['find(mug_12)', 'grab(mug_12)']
    assert len(context.warnings) == 2
    assert 'is taken as false' in context.warnings[-1]


def test_a_name_that_does_not_exist_is_asked_for_once_more_where_all_is_in_sight() -> None:
    wrong, right = "find('glass')\ngrab('glass')", "find('wineglass')\ngrab('wineglass')"
    model, world, context = ScriptedModel([wrong, right]), SmallHouse(), Diary()

    play(model, world, context)

    assert world.has('wineglass_10', 'held_by', 'character_40') and context.failed == []
    again = model.requests[1].messages[-1].content
    assert "There is no 'glass' in the scene. The nearest names: wineglass, " in again
    assert again.count('glass') == 2  # each name once

    in_recovery = ScriptedModel(["assert('salmon' in 'hands')\n\telse: grab('fish')"] * 2)
    play(in_recovery, SmallHouse(), Diary())
    assert len(in_recovery.requests) == 2


def test_an_unseen_object_may_be_named_and_its_failure_lists_where_it_can_be() -> None:
    room = Visibility(reach='rooms_seen')
    model, world = ScriptedModel(["grab('lime')\nwalk('kitchen')\nfind('lime')"]), SmallHouse(room)

    context = play(model, world, Diary())

    assert world.calls == ['walk(kitchen_1)', 'find(lime_11)']
    ((_, cause),) = context.failed
    assert cause == "No 'lime' was seen so far. Not seen yet: the rooms kitchen, livingroom."
    assert (
        'a name that is not listed means what is seen once the robot got there'
        in prompts(model)[0]
    )


def test_a_program_takes_a_second_one_while_the_first_is_in_a_hand() -> None:
    world = SmallHouse()

    play("find('salmon')\ngrab('salmon')\nfind('salmon')\ngrab('salmon')", world, Diary())

    assert world.calls == [
        *('find(salmon_13)', 'grab(salmon_13)', 'find(salmon_14)', 'grab(salmon_14)')
    ]


SHUT = """# 1: take the salmon
find('salmon')
grab('salmon')
# 2: put it in the fridge
find('fridge')
putin('salmon', 'fridge')
find('mug')"""
"""A program that forgets to open the fridge, and would walk away afterwards."""
REST = "# 1: open it first\nopen('fridge')\nputin('salmon', 'fridge')"


def replan(
    model: ScriptedModel, world: SmallHouse, *, limits: Limits | None = None, **options: str
) -> Episode:
    options = {'check': 'graph', 'grounding': 'nearest', 'replan': 'yes', **options}
    run = EpisodeRun(TASK, planner='p', brain='b', body='b', limits=limits)
    return run.execute(
        ProgPrompt(run.model(model, 'brain'), NOBODY, options=chosen('prog_prompt', **options)),
        world,
    )


def prompts(model: ScriptedModel) -> list[str]:
    return [opening(request) for request in model.requests]


def mending(request: ModelRequest) -> str:
    """Forget the fridge's door, and think of it only when told that the call failed."""
    tried = opening(request).rpartition('The robot has begun')[2]
    if not opening(request).count('The robot has begun'):
        return SHUT
    return REST if tried.count('# failed') and "open('fridge')" not in tried else 'done'


def test_a_failed_call_ends_its_program_and_is_reported_without_its_reason() -> None:
    model, world, left = ScriptedModel([mending] * 5), SmallHouse(), SmallHouse()

    episode = replan(model, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert episode.feedback_loops == 1 and world.has('salmon_13', 'inside', 'fridge_33')
    assert replan(ScriptedModel([mending] * 5), left, replan='no').ending is Ending.GAVE_UP
    assert not left.has('salmon_13', 'inside', 'fridge_33')
    assert 'find(mug_12)' not in world.calls
    begun = prompts(model)[1].partition('each with how it went:\n')[2].split('\n')
    assert begun[:5] == [
        "\tfind('salmon')  # done: the one on the table",
        "\tgrab('salmon')  # done: the one on the table",
        "\tfind('fridge')  # done",
        "\tputin('salmon', 'fridge')  # failed",
        '',
    ]
    assert begun[5:8] == [
        'Now:',
        'You are in the kitchen. In your hands: salmon.',
        'Close to you: fridge.',
    ]
    assert 'kitchen: table (on it: wineglass, lime, ' in prompts(model)[0]  # also at first
    assert prompts(model)[1].endswith('\ndef put_the_salmon_in_the_fridge():\n\t')
    plans = [event.data for event in episode.events if event.kind is EventKind.PLAN]
    assert plans[1].start == 3  # it takes the place of the step that failed
    assert plans[1].steps[3:] == ("open('fridge')", "putin('salmon', 'fridge')")


def test_the_model_can_give_up_in_the_middle_and_one_that_never_ends_is_ended() -> None:
    gave_up = replan(ScriptedModel(["open('fridge')", 'cannot: it is stuck']), SmallHouse())
    endless = replan(
        ScriptedModel(["find('salmon')"] * (MAX_PROGRAMS + 1)),
        SmallHouse(),
        limits=Limits(model_calls=None, steps=None, allow_circles=True),
    )

    assert (gave_up.ending, gave_up.message) == (Ending.GAVE_UP, 'it is stuck')
    assert endless.ending is Ending.GAVE_UP
    assert f'After {MAX_PROGRAMS} programs' in endless.message


@pytest.mark.parametrize('idle', ["levitate('salmon')", "assert('salmon' on 'table')"])
def test_programs_that_try_nothing_end_it_before_they_use_up_the_model_s_calls(idle: str) -> None:
    model = ScriptedModel(["find('salmon')", idle, idle, "find('salmon')", *[idle] * 20])

    episode = replan(model, SmallHouse())

    assert episode.ending is Ending.GAVE_UP
    assert '3 programs in a row made no call' in episode.message
    assert len(model.requests) == 7


@pytest.mark.parametrize(
    ('text', 'calls'),
    [
        *[(text, '') for text in ('done', '`Done.`', '# done', 'pass', '```python\ndone\n```')],
        ('def f():\n\tpass', ''),
        ("find('mug')", "find('mug')"),
        ('cannot: no arm', GaveUpError),
        ('I am done with this.', ParseError),
        # Comments alone: the reply was cut off.
        ('# 1: then I find the salmon\n# 2: and put it away', ParseError),
        ('def f():', ParseError),
        ('# 1: go\npass', ParseError),
    ],
)
def test_the_rest_of_a_program_may_be_done_but_not_only_comments(
    text: str, calls: str | type[Exception]
) -> None:
    if isinstance(calls, str):
        assert '\n'.join(map(written, parse_rest(text).calls)) == calls
    else:
        with pytest.raises(calls):
            parse_rest(text)


def test_done_is_read_only_where_a_program_has_begun_and_a_cut_reply_is_asked_for_again() -> None:
    assert replan(ScriptedModel(['done', 'done']), SmallHouse()).ending is Ending.MODEL_FAILED
    again = replan(ScriptedModel(["find('salmon')", '# 1: go', 'done']), SmallHouse())
    assert (again.ending, len(again.model_calls)) == (Ending.FINISHED, 3)
