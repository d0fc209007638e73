"""A monologue: what its steps keep, what a window forgets, and what is read of a reply."""

from __future__ import annotations

import pytest
from made_scenes import made_scene

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.types import Code, Outcome, Scene, Skill, SkillCall, Status
from bbllm.planners.common.low_level_plan import MAX_LINE, LowLevelCall
from bbllm.planners.common.observation_text import GONE
from bbllm.planners.common.scene_graph import CHARACTER
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.inner_monologue.grammar import EXTRA_LISTED, THOUGHT_KEPT, parse_next
from bbllm.planners.inner_monologue.prompting import Monologue
from bbllm.worlds.household.world import HouseholdWorld

ACTIONS = (Skill('move', ('object',)),)
DONE = Outcome(call=SkillCall('walk', ('mug_3',)), status=Status.SUCCEEDED)
FAILED = Outcome(call=DONE.call, status=Status.FAILED, code=Code.PRECONDITION)


def seen(*facts: str) -> Scene:
    return made_scene('character_2 mug_3', 'mug_3 affords grabbable', *facts)


def monologue(window: int | None = None) -> Monologue:
    names = ShortNames()
    names.see(seen())
    return Monologue(names, seen(), window)


def test_what_people_say_is_kept_with_the_step_before_it_all_of_it() -> None:
    talk = monologue()
    talk.hear(['hello'])
    talk.add('a', 'move(mug1)', DONE, seen())
    talk.hear(['left'])
    talk.hear(['right'])

    assert talk.heard == ['hello']
    assert talk.steps[0].heard == ('left', 'right')


def test_a_window_forgets_the_oldest_step_and_keeps_what_people_said_in_it() -> None:
    talk = monologue(window=2)
    talk.hear(['hello'])
    for i, near in enumerate(['', 'mug_3 close_to character_2', '', '']):
        talk.add(f'{i}', 'move(mug1)', DONE, seen(*[near] * bool(near)))
        talk.hear([f'said {i}'])

    assert [step.thought for step in talk.steps] == ['2', '3']
    assert talk.heard == ['hello', 'said 0', 'said 1']
    assert talk.n_left_out == 2
    # What was seen before the oldest step that is kept: the mug was close then.
    assert 'You are close to: [mug1]' in talk.scene


def test_a_step_tells_what_is_new_since_the_one_before_it() -> None:
    talk = monologue()
    near = seen('mug_3 close_to character_2')
    talk.add('a', 'move(mug1)', DONE, near)
    talk.add('b', 'move(mug1)', DONE, near)

    assert [step.scene for step in talk.steps] == ['You are close to: [mug1]', 'nothing new']


def test_who_walks_about_in_a_house_that_is_in_sight_is_told_of_nothing_gone() -> None:
    world, names = HouseholdWorld('studio'), ShortNames()
    names.see(world.observe())
    talk = Monologue(names, world.observe())
    things = [name for name in world.observe().names if class_of(name) != CHARACTER]

    for name in things:
        outcome = world.execute(SkillCall('walk', (name,)))
        talk.add('', name, outcome, world.observe())

    scenes = [step.scene for step in talk.steps]
    assert any('close to: [' in scene and 'wall' in scene for scene in scenes)
    assert not [scene for scene in scenes if GONE in scene]


@pytest.mark.parametrize(
    ('outcome', 'how'),
    [(DONE, 'yes'), (FAILED, 'no: mug1 is wet'), (None, 'no: mug1 is wet')],
)
def test_why_is_told_of_what_did_not_work_and_in_short_names(
    outcome: Outcome | None, how: str
) -> None:
    talk = monologue()

    talk.add('a', 'move(mug1)', outcome, seen(), why='<mug> (3) is\nwet')

    assert f'Success: {how}' in talk.steps[0].lines


def test_what_the_world_says_in_a_reply_ends_what_is_read_of_it() -> None:
    for said in ('Success: yes', 'Scene: nothing new', 'Human: go on'):
        with pytest.raises(ParseError):
            parse_next(f'I go.\n{said}\nRobot action: move(mug1)', ACTIONS)


def test_a_long_thought_is_cut_and_a_long_action_is_none() -> None:
    step = parse_next(f'{"so " * THOUGHT_KEPT}\nRobot action: move(mug1)', ACTIONS)
    long = parse_next(f'So.\nRobot action: move({"x" * MAX_LINE})', ACTIONS)

    assert len(step.thought) == THOUGHT_KEPT
    assert step.call == LowLevelCall('move', ('mug1',))
    assert not isinstance(long.call, LowLevelCall)
    assert f'more than {MAX_LINE} characters' in str(long.call)


def test_of_lines_behind_the_action_some_are_told_and_the_others_counted() -> None:
    imagined = '\n'.join(f'Robot thought: {i}' for i in range(EXTRA_LISTED + 3))

    few = parse_next('Robot action: move(mug1)\nSuccess: yes', ACTIONS)
    many = parse_next(f'Robot action: move(mug1)\n{imagined}', ACTIONS)

    assert few.extra == ('Success: yes',)
    assert len(many.extra) == EXTRA_LISTED + 1
    assert many.extra[-1] == '3 more lines'


def test_a_thought_that_it_cannot_be_done_ends_it_only_where_no_action_follows() -> None:
    with pytest.raises(GaveUpError, match='no mug is here'):
        parse_next('cannot: no mug is here', ACTIONS)
    step = parse_next('cannot: carry both\nRobot action: move(mug1)', ACTIONS)
    assert step.call == LowLevelCall('move', ('mug1',))
