"""ProgPrompt with `replan=yes`: after a failure, and after each program, it is asked to go on."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from small_house import SmallHouse

from bbllm.core.budget import Limits
from bbllm.core.delimiters import without_delimiters
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import Ending, Episode, EventKind
from bbllm.core.types import Task
from bbllm.llm.scripted import Request, ScriptedModel
from bbllm.planners.prog_prompt.grammar import parse_rest
from bbllm.planners.prog_prompt.planner import MAX_PROGRAMS, ProgPrompt

NOBODY: Any = None
TASK = Task('t', 'put the salmon in the fridge')
SHUT = """# 1: take the salmon
find('salmon')
grab('salmon')
# 2: put it in the fridge
find('fridge')
putin('salmon', 'fridge')
find('mug')"""
"""A program that forgets to open the fridge, and would walk away afterwards."""
REST = "# 1: open it first\nopen('fridge')\nputin('salmon', 'fridge')"


def play(
    model: ScriptedModel, world: SmallHouse, *, limits: Limits | None = None, **options: str
) -> Episode:
    options = {'check': 'graph', 'grounding': 'nearest', 'replan': 'yes', **options}
    run = EpisodeRun(TASK, planner='p', brain='b', body='b', limits=limits)
    return run.execute(
        ProgPrompt(run.model(model, 'brain'), NOBODY, options=chosen('prog_prompt', **options)),
        world,
    )


def prompts(model: ScriptedModel) -> list[str]:
    return [without_delimiters(request.messages[0].content) for request in model.requests]


def mending(request: Request) -> str:
    """Forget the fridge's door, and think of it only when told that the call failed."""
    tried = without_delimiters(request.messages[0].content).rpartition('The robot has begun')[2]
    if not without_delimiters(request.messages[0].content).count('The robot has begun'):
        return SHUT
    return REST if tried.count('# failed') and "open('fridge')" not in tried else 'done'


def test_what_a_program_forgot_is_mended_only_where_it_is_asked_to_go_on() -> None:
    mended, left = SmallHouse(), SmallHouse()

    with_replanning = play(ScriptedModel([mending] * 5), mended)
    without = play(ScriptedModel([mending] * 5), left, replan='no')

    assert with_replanning.ending is Ending.FINISHED, with_replanning.message
    assert mended.has('salmon_13', 'inside', 'fridge_33')
    assert with_replanning.feedback_loops == 1
    assert without.ending is Ending.GAVE_UP
    assert not left.has('salmon_13', 'inside', 'fridge_33')


def test_a_call_that_fails_ends_its_program_and_is_told_without_its_reason() -> None:
    model, world = ScriptedModel([mending] * 5), SmallHouse()

    episode = play(model, world)

    assert 'find(mug_12)' not in world.calls
    begun = prompts(model)[1].partition('each with how it went:\n')[2].split('\n')
    assert begun[:5] == [
        "\tfind('salmon')  # done",
        "\tgrab('salmon')  # done",
        "\tfind('fridge')  # done",
        "\tputin('salmon', 'fridge')  # failed",
        'Now: In the hands: salmon. Close: fridge.',
    ]
    assert prompts(model)[1].endswith('\ndef put_the_salmon_in_the_fridge():\n\t')
    plans = [event.data for event in episode.events if event.kind is EventKind.PLAN]
    assert plans[1].start == 3  # it takes the place of the step that failed
    assert plans[1].steps[3:] == ("open('fridge')", "putin('salmon', 'fridge')")


def test_a_name_that_there_is_not_is_told_with_its_reason() -> None:
    model = ScriptedModel(["find('unicorn')", 'done'])

    play(model, SmallHouse())

    assert "\tfind('unicorn')  # failed: There is no 'unicorn' in the scene." in prompts(model)[1]


def test_a_program_that_went_well_is_followed_by_another_until_the_model_is_done() -> None:
    parts = [
        "find('salmon')\ngrab('salmon')",
        "find('fridge')\nopen('fridge')",
        '# nothing is left\n# done',
    ]
    model, world = ScriptedModel(parts), SmallHouse()

    episode = play(model, world)

    assert episode.ending is Ending.FINISHED
    assert episode.feedback_loops == 0
    assert len(model.requests) == len(parts)
    (last,) = [event.data for event in episode.events if event.kind is EventKind.PLAN][-1:]
    assert last.steps == (
        *("find('salmon')", "grab('salmon')", "find('fridge')", "open('fridge')"),
    )


def test_a_recovery_that_fails_ends_the_program_too() -> None:
    program = "assert('salmon' in 'hands')\n\telse: grab('salmon')\nfind('mug')"
    world = SmallHouse()

    play(ScriptedModel([program, 'done']), world)

    assert world.calls == ['grab(salmon_13)']


def test_the_model_can_give_up_in_the_middle_and_one_that_never_ends_is_ended() -> None:
    gave_up = play(ScriptedModel(["open('fridge')", 'cannot: it is stuck']), SmallHouse())
    endless = play(
        ScriptedModel(["find('salmon')"] * (MAX_PROGRAMS + 1)),
        SmallHouse(),
        limits=Limits(model_calls=None, steps=None),
    )

    assert (gave_up.ending, gave_up.message) == (Ending.GAVE_UP, 'it is stuck')
    assert endless.ending is Ending.GAVE_UP
    assert f'After {MAX_PROGRAMS} programs' in endless.message


@pytest.mark.parametrize('idle', ["levitate('salmon')", "assert('salmon' on 'table')"])
def test_programs_that_try_nothing_end_it_before_they_use_up_the_model_s_calls(idle: str) -> None:
    model = ScriptedModel(["find('salmon')", idle, idle, "find('salmon')", *[idle] * 20])

    episode = play(model, SmallHouse())

    assert episode.ending is Ending.GAVE_UP
    assert '3 programs in a row made no call' in episode.message
    assert len(model.requests) == 7


@pytest.mark.parametrize(
    'comments', ['# 1: then I find the salmon\n# 2: and put it away', 'def f():', '# 1: go\npass']
)
def test_comments_alone_are_a_reply_that_was_cut_off_and_not_the_end(comments: str) -> None:
    with pytest.raises(ParseError):
        parse_rest(comments)

    episode = play(ScriptedModel(["find('salmon')", comments, 'done']), SmallHouse())

    assert episode.ending is Ending.FINISHED
    assert len(episode.model_calls) == 3  # it was asked once more


def test_a_budget_ends_it() -> None:
    episode = play(ScriptedModel(["find('mug')"] * 50), SmallHouse(), limits=Limits(steps=7))

    assert episode.ending is Ending.OUT_OF_BUDGET


def test_done_is_read_only_where_a_program_has_begun() -> None:
    finished = ('done', '`Done.`', '# done', 'pass', '```python\ndone\n```', 'def f():\n\tpass')
    for text in finished:
        assert not any(goal.statements for goal in parse_rest(text).sub_goals)
    assert [str(call) for call in parse_rest("find('mug')").calls] == ["find('mug')"]
    with pytest.raises(GaveUpError, match='no arm'):
        parse_rest('cannot: no arm')
    with pytest.raises(ParseError):
        parse_rest('I am done with this.')
    episode = play(ScriptedModel(['done', 'done']), SmallHouse())
    assert episode.ending is Ending.MODEL_FAILED
