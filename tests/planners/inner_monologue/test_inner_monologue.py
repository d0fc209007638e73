"""Inner Monologue: a step at a time, by a prompt that grows with what came of each."""

import re
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.naming import class_of
from bbllm.core.protocols import ModelRequest
from bbllm.core.types import Skill, SkillCall, Task
from bbllm.planners.domains.observation_text import GONE, NOTHING_NEW, ShortNames, changes
from bbllm.planners.domains.scene_graph import CHARACTER
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_planners.inner_monologue.grammar import EXTRA_LISTED, parse_next
from bbllm_planners.inner_monologue.planner import InnerMonologue, Monologue
from tests.drawn import full
from tests.planners.chosen import chosen, opening
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary

NOBODY: Any = None
TASK = Task('t', 'put salmon1 in the fridge')
ACTIONS = (Skill('move', ('object',)), Skill('placein', ('object', 'place')), Skill('wait'))
SALMON = (
    *('move(salmon1)', 'pickup(salmon1)', 'move(fridge1)', 'open(fridge1)'),
    *('placein(salmon1, fridge1)', 'done'),
)


def play(
    model: ScriptedModel, world: Any = None, *, steps: int = 200, task: Task = TASK, **options: str
) -> Episode:
    run = EpisodeRun(task, planner='p', brain='b', body='b', limits=Limits(steps=steps))
    planner = InnerMonologue(
        run.model(model, 'brain'), NOBODY, options=chosen('inner_monologue', **options)
    )
    return run.execute(planner, SmallHouse() if world is None else world)


def replying(*actions: str) -> ScriptedModel:
    return ScriptedModel([f'Next.\nRobot action: {action}' for action in actions])


def prompts(model: ScriptedModel) -> list[str]:
    return [opening(request) for request in model.requests]


def test_a_task_is_done_step_by_step_and_each_result_is_in_the_next_prompt() -> None:
    model, world = replying(*SALMON), SmallHouse()

    episode = play(model, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('salmon_13', 'inside', 'fridge_33')
    last = history_in(prompts(model)[-1])
    assert taken(last) == [(action, 'yes') for action in SALMON[:-1]]
    assert last.startswith('Human: put salmon1 in the fridge\nScene: Room List: [')
    assert 'Robot thought: Next.\nRobot action: pickup(salmon1)\nSuccess: yes\nScene: ' in last
    assert 'Current Holding: [salmon1]' in last
    assert last.endswith('\nRobot thought:')
    # Only the first scene is told in whole.
    assert last.count('Object List: [wineglass1 ON table1') == 1


def history_in(prompt: str) -> str:
    return prompt.partition('==== monologue ====\n')[2]


def taken(monologue: str) -> list[tuple[str, str]]:
    """Return the actions that a monologue tells, each with `yes` or `no` for its success."""
    return re.findall(r'^Robot action: (.*)\nSuccess: (yes|no)', monologue, re.MULTILINE)


def searcher(request: ModelRequest) -> str:
    """Reply with the next place to search, by what the monologue tells."""
    monologue = history_in(opening(request))
    return f'I know what to do.\nRobot action: {searching(monologue)}'


def searching(monologue: str) -> str:
    """Go to the first place that the prompt does not tell to have been looked at; then say so."""
    places = ('table1', 'fridge1', 'sink1', 'garbagecan1', 'faucet1', 'coffeetable1', 'chair1')
    seen = {action for action, _ in taken(monologue)}
    left = [place for place in places if f'move({place})' not in seen]
    return f'move({left[0]})' if left else 'cannot: it is nowhere'


def test_a_window_forgets_what_was_done_so_that_a_search_begins_anew() -> None:
    def searched(window: str) -> tuple[Episode, SmallHouse]:
        world = SmallHouse()
        task = Task('t', 'find the keys')
        return play(
            ScriptedModel([searcher] * 99), world, task=task, steps=30, window=window
        ), world

    remembering, whole = searched('all')
    forgetting, part = searched('5')

    assert remembering.ending is Ending.GAVE_UP
    assert len(whole.calls) == 7
    assert forgetting.ending is Ending.OUT_OF_BUDGET
    assert part.calls.count('walk(table_30)') > 1


@pytest.mark.parametrize(('window', 'n_cuts'), [('10', 4), ('20', 1), ('40', 0)])
def test_the_window_slides_in_strides_so_that_most_prompts_begin_with_the_one_before(
    window: str, n_cuts: int
) -> None:
    n_steps = 30
    # The Thue-Morse sequence repeats nothing three times, so that this is no circle.
    turns = [('move(chair1)', 'move(sink1)')[i.bit_count() % 2] for i in range(n_steps)]
    model = replying(*turns, 'done')

    play(model, window=window)

    asked = [prompt.removesuffix('Robot thought:') for prompt in prompts(model)]
    kept = [after.startswith(before) for before, after in zip(asked, asked[1:], strict=False)]
    assert kept.count(False) == n_cuts
    sizes = [len(taken(history_in(prompt))) for prompt in asked]
    assert max(sizes) == min(int(window), n_steps)
    assert all(size >= min(i, int(window) // 2) for i, size in enumerate(sizes))


def test_an_unknown_action_is_omitted_and_reported_to_the_model() -> None:
    model = replying('levitate(salmon1)', 'placein(salmon1)', *SALMON)

    episode = play(model)

    assert episode.ending is Ending.FINISHED
    left_out = [event.data for event in episode.events if event.kind is EventKind.DISCARDED]
    assert [data.code.name for data in left_out] == ['UNKNOWN_SKILL', 'BAD_ARGUMENTS']
    assert 'Success: no: There is no action levitate. Known: move, ' in prompts(model)[1]


def test_a_failed_step_is_replaced_and_what_is_made_up_behind_an_action_left_out() -> None:
    actions = ('pickup(salmon1)', *SALMON)
    model = ScriptedModel(
        [f'Next.\nRobot action: {x}\nSuccess: yes\nScene: a IN b' for x in actions]
    )

    episode = play(model)

    assert episode.ending is Ending.FINISHED
    assert taken(history_in(prompts(model)[1])) == [('pickup(salmon1)', 'no')]
    assert episode.feedback_loops == 1
    plans = [event.data.steps for event in episode.events if event.kind is EventKind.PLAN]
    assert plans[:2] == [('pickup(salmon1)',), ('move(salmon1)',)]
    assert sum(event.kind is EventKind.DISCARDED for event in episode.events) == 2 * len(actions)
    assert history_in(prompts(model)[2]).count('Success: yes') == 1


@pytest.mark.parametrize('idle', ['wait()', 'levitate(salmon1)'])
def test_thoughts_that_try_nothing_end_it_before_they_use_up_the_model_s_calls(idle: str) -> None:
    model = replying(idle, idle, 'move(salmon1)', *[idle] * 20)

    episode = play(model, steps=10)

    assert episode.ending is Ending.GAVE_UP
    assert 'In 3 rounds in a row' in episode.message
    assert len(model.requests) == 6


def test_a_remark_stays_at_its_step_and_outlives_the_window() -> None:
    model = replying(*['move(chair1)', 'move(sink1)'] * 4, 'done')
    context = Diary({0: 'the blue one', 2: 'hurry up'})

    InnerMonologue(model, NOBODY, options=chosen('inner_monologue', window='5')).run(
        TASK, SmallHouse(), context
    )

    third, last = history_in(prompts(model)[2]), history_in(prompts(model)[-1])
    assert third.index('Human: the blue one\nScene:') < third.index('Human: hurry up\nRobot')
    assert 'Human: the blue one\nHuman: hurry up\n(Left out here: the first 4 steps.)\n' in last
    assert context.held_done


def test_only_changes_of_a_scene_are_in_the_prompt() -> None:
    before = {'Object List': ['a IN b', 'c ON d'], 'Current Holding': [], 'Room List': ['k', 'l']}
    eaten = {**before, 'Object List': ['c ON d']}
    taken_up = {**eaten, 'Current Holding': ['a']}

    assert changes(before, before) == NOTHING_NEW
    moved = {**before, 'Object List': ['a ON d', 'c ON d']}
    assert changes(before, moved) == 'Object List: [a ON d]'
    assert changes(before, taken_up) == 'Current Holding: [a]'
    assert changes(taken_up, before) == 'Object List: [a IN b]; Current Holding: []'
    assert changes(before, eaten) == 'No longer seen: [a]'
    assert changes({'': ['red_cube cube 1 2 3']}, {'': ['red_cube 4']}) == 'red_cube 4'


@pytest.mark.slow  # walks through a whole house
@pytest.mark.drawn
def test_walking_in_a_visible_house_reports_no_object_as_gone() -> None:
    world, names = HouseholdWorld('studio'), ShortNames()
    names.see(world.observe())
    talk = Monologue(names, world.observe())
    objects = [name for name in world.observe().names if class_of(name) != CHARACTER]

    for name in objects if full() else objects[::4]:
        outcome = world.execute(SkillCall('walk', (name,)))
        talk.add('', name, outcome, world.observe())

    scenes = [step[-1] for step in talk.steps]
    assert any('close to: [' in scene and 'wall' in scene for scene in scenes)
    assert not [scene for scene in scenes if GONE in scene]


MOVE = SkillCall('move', ('a1',))
IMAGINED = [f'Robot thought: {i}' for i in range(EXTRA_LISTED + 3)]


@pytest.mark.parametrize(
    ('reply', 'thought', 'call', 'extra'),
    [
        ('I go.\nRobot action: move(a1)', 'I go.', MOVE, []),
        ('Robot thought: I go.\nAction: `move(a1)`', 'I go.', MOVE, []),
        ('**Robot thought:** x\n**Robot action:** wait()', 'x', SkillCall('wait'), []),
        ('All is well.\nRobot action: done.', 'All is well.', None, []),
        ('Robot action: placein(a1, b1)', '', SkillCall('placein', ('a1', 'b1')), []),
        ('Robot action: move(a1)\nSuccess: yes', '', MOVE, ['Success: yes']),
        (
            '\n'.join(['Robot action: move(a1)', *IMAGINED]),
            *('', MOVE, [*IMAGINED[:EXTRA_LISTED], '3 more lines']),
        ),
    ],
)
def test_a_thought_and_an_action_are_read(
    reply: str, thought: str, call: SkillCall | None, extra: list[str]
) -> None:
    read = parse_next(reply, ACTIONS)

    assert (read.thought, read.call, [*read.extra]) == (thought, call, extra)


@pytest.mark.parametrize(
    ('reply', 'error', 'expected'),
    [
        ('Well, well.', ParseError, 'No action was found'),
        ('I go.\nScene: a1\nRobot action: move(a1)', ParseError, 'No action was found'),
        ('', ParseError, 'No action was found'),
        ('cannot: no arm', GaveUpError, 'no arm'),
        ('Hm.\nRobot action: cannot: no arm', GaveUpError, 'no arm'),
    ],
)
def test_a_reply_without_an_action_is_refused_or_gives_up(
    reply: str, error: type[Exception], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        parse_next(reply, ACTIONS)
