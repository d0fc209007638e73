"""Low-level plans: what is left out and told, what names mean, and what an idle round is."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from made_scenes import made_scene
from small_house import SmallHouse

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import GaveUpError
from bbllm.core.events import Ending, Episode, EventKind, PlanMade
from bbllm.core.types import Code, Outcome, SkillCall, Status, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.low_level_hands import IDLE_LIMIT, MAX_WAITS, GrowingPlan
from bbllm.planners.common.low_level_plan import (
    HOUSE_ACTIONS,
    MAX_LINES,
    low_level_actions,
    parse_low_level_plan,
)
from bbllm.planners.common.observation_text import observation_text
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.llm_state.planner import LLMState

NOBODY: Any = None
ACTIONS = low_level_actions(SmallHouse().observe())


def play(*replies: str, world: SmallHouse | None = None) -> Episode:
    run = EpisodeRun(Task('t', 'work'), planner='p', brain='b', body='b')
    planner = LLMState(
        run.model(ScriptedModel([*replies]), 'brain'),
        NOBODY,
        options=chosen('llm_state', states='no'),
    )
    return run.execute(planner, world or SmallHouse())


def told(episode: Episode, kind: EventKind) -> list[Any]:
    return [event.data for event in episode.events if event.kind is kind]


def test_a_house_offers_all_actions_of_the_paper_and_waiting() -> None:
    assert [skill.name for skill in ACTIONS] == [*HOUSE_ACTIONS, 'wait']


@pytest.mark.parametrize('line', ['placein(mug1, )', 'placein(, sink1)', 'placein("", "sink1")'])
def test_a_thing_that_is_left_empty_is_missing(line: str) -> None:
    plan = parse_low_level_plan(f'1. move(mug1)\n2. {line}', ACTIONS)

    assert [str(call) for call in plan.calls] == ['move(mug1)']
    assert [item.code for item in plan.discarded] == [Code.BAD_ARGUMENTS]


def test_lines_that_are_not_read_are_told_with_what_they_stand_behind() -> None:
    long = parse_low_level_plan('move(mug1)\n' * (MAX_LINES + 4), ACTIONS)
    done = parse_low_level_plan('move(mug1)\ndone\nmove(mug1)\nmove(mug1)', ACTIONS)

    assert [(item.text, item.why) for item in (*long.discarded, *done.discarded)] == [
        ('4 more lines', f'Left out behind line {MAX_LINES}.'),
        ('2 more lines', 'Left out behind a line `done`.'),
    ]


def test_of_several_reasons_the_first_is_why_it_cannot_be_done() -> None:
    with pytest.raises(GaveUpError, match='no mug is here'):
        parse_low_level_plan('cannot: no mug is here\ncannot: I am tired', ACTIONS)


def test_a_round_is_idle_only_if_all_of_it_is_waiting() -> None:
    tried = ['1. move(fridge1)\n2. wait()'] * (IDLE_LIMIT + 1)

    assert play(*tried, 'done').ending is Ending.FINISHED


@pytest.mark.parametrize(('more', 'ending'), [(0, Ending.FINISHED), (1, Ending.GAVE_UP)])
def test_waiting_ends_an_episode_after_its_limit_and_not_at_it(more: int, ending: Ending) -> None:
    n_each = 15  # fewer than a plan may have, with the call that follows them
    plans = ['wait()\n' * n_each + 'move(fridge1)'] * (MAX_WAITS // n_each)

    episode = play(*plans, 'wait()\n' * more + 'move(sink1)', 'done')

    assert MAX_WAITS % n_each == 0
    assert episode.ending is ending, episode.message


def test_steps_and_passes_are_told_as_they_come() -> None:
    episode = play('1. move(fridge1)\n2. wait()\n3. open(fridge1)', 'done')

    steps = [(data.index, data.text) for data in told(episode, EventKind.STEP)]
    assert steps == [(0, 'move(fridge1)'), (1, 'wait()'), (2, 'open(fridge1)')]
    assert [data.index for data in told(episode, EventKind.PASS)] == [1]


def test_a_failure_without_words_is_told_by_its_code() -> None:
    class Silent(SmallHouse):
        def execute(self, call: SkillCall) -> Outcome:
            return Outcome(call=call, status=Status.FAILED, code=Code.PRECONDITION)

    episode = play('1. move(fridge1)', 'done', world=Silent())

    assert [data.cause for data in told(episode, EventKind.REPAIR)] == [
        'move(fridge1) failed with code PRECONDITION.'
    ]


def test_a_name_of_the_world_means_that_thing_and_a_short_name_the_one_that_was_given_it() -> None:
    names = ShortNames()
    names.see(made_scene('cup_9 cup_1'))

    assert [names.name(word) for word in ('cup_1', 'cup1', 'cup_9', 'cup2')] == [
        'cup_1',
        'cup_9',
        'cup_9',
        'cup_1',
    ]


def test_what_has_no_number_or_lies_on_a_table_is_not_numbered() -> None:
    names = ShortNames()
    names.see(made_scene('kitchen cup_9'))
    names.see(made_scene('cube_7 cube_4', domain='tabletop'))

    assert [names.short(name) for name in ('kitchen', 'cup_9', 'cube_7', 'cube_4')] == [
        'kitchen',
        'cup1',
        'cube_7',
        'cube_4',
    ]


def test_who_acts_is_no_thing_to_be_listed_even_where_it_could_be_taken() -> None:
    scene = made_scene('character_1 mug_3', 'character_1 affords grabbable', 'mug_3 affords cut')
    names = ShortNames()
    names.see(scene)

    text = observation_text(scene, names)

    assert 'Object List: [mug1]' in text
    assert 'character' not in text


def test_a_plan_that_goes_on_keeps_its_steps_and_numbers_the_new_ones_behind_them() -> None:
    told: list[tuple[list[str], int]] = []

    class Listener:
        def emit(self, made: PlanMade) -> None:
            told.append((list(made.steps), made.start))

    plan = GrowingPlan(Listener())  # type: ignore[arg-type]  # all of a context that it uses
    plan.go_on(['a', 'b', 'c'])
    plan.next = 2

    steps = plan.go_on(['d', 'e'])

    assert [(step.index, step.text) for step in steps] == [(2, 'd'), (3, 'e')]
    assert told == [(['a', 'b', 'c'], 0), (['a', 'b', 'd', 'e'], 2)]
