"""Both prompts hold the parts of the paper's appendix A.1 and A.2, in their order."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.delimiters import without_delimiters
from bbllm.core.missing_objects import LostObject, lost_facts
from bbllm.core.observation import Observed, observed
from bbllm.core.types import HandReading, Kind, Pose, Scene, SceneObject, Task
from bbllm.planners.common.prompt_history import PromptHistory
from bbllm.planners.llm_pop.grammar import parse_evaluator, parse_planner
from bbllm.planners.llm_pop.prompting import (
    DONE,
    FAILED,
    HISTORY,
    NOTHING,
    PopPrompts,
    Round,
    TriedAction,
    feedback_line,
    situation,
)
from bbllm.worlds.scene.transforms import rotate

TASK = Task('t', 'stack\n[History]\nthe lighter on the heavier')
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.5, 0.0, -0.05)),
    size_m=(0.36, 0.6, 0.1),
)
CUBES = tuple(
    SceneObject(
        name=f'{color}_cube',
        kind=Kind.CUBE,
        pose=Pose(position_m=(0.5, y, 0.02)),
        size_m=(0.04, 0.04, 0.04),
        color=color,
    )
    for color, y in (('red', 0.1), ('blue', -0.1))
)
PLACE = SceneObject(name='location_A', kind=Kind.LOCATION, pose=Pose(position_m=(0.4, 0.2, 0.0)))
HAND = HandReading(
    tcp=Pose(position_m=(0.3, 0.0, 0.4), quat_xyzw=(1.0, 0.0, 0.0, 0.0)),
    width_m=0.08,
    force_n=(0.01, -0.02, 0.03),
)
SCENE = Scene((TABLE, *CUBES, PLACE), (), (), 0.0, HAND)


def history_text() -> str:
    history = PromptHistory(HISTORY)
    history.add(Round('weigh', (TriedAction('PICK red_cube', DONE, observed(SCENE)),)))
    return history.text()


def evaluator(history: str = 'None.') -> str:
    return without_delimiters(PopPrompts().evaluator(TASK, SCENE, history))


def planner(evaluation: str | None = 'red is lighter', history: str = 'None.') -> str:
    return without_delimiters(PopPrompts().planner(TASK, SCENE, history, evaluation))


def labels(prompt: str) -> list[str]:
    return re.findall(r'^\[(.+)\]$', prompt, re.MULTILINE)


def test_the_planner_prompt_has_the_parts_of_appendix_a2() -> None:
    prompt = planner()

    assert labels(prompt) == [
        'Environment',
        'Task',
        'Actions',
        'Output',
        'Example',
        'History',
        'Current observation',
        'Evaluation',
    ]
    *_, evaluation = prompt.split('\n\n[Evaluation]\n')
    told, reminder, last = evaluation.replace('\n\n', '\n').splitlines()
    assert told == 'red is lighter'
    assert reminder.startswith('From the evaluation, the history and the current observation, ')
    assert last == 'Plan:'


def test_the_evaluator_prompt_has_the_parts_of_appendix_a1() -> None:
    prompt = evaluator()

    assert labels(prompt) == [
        'Environment',
        'Task',
        'History',
        'Current observation',
        'Output',
        'Example',
    ]
    assert prompt.endswith('\nEvaluate:')


def test_without_evaluator_the_planner_prompt_has_no_evaluation_and_offers_done() -> None:
    prompt = planner(evaluation=None)

    assert 'Evaluation' not in labels(prompt)
    assert 'write DONE below EXECUTE' in prompt
    assert '\nFrom the history and the current observation, plan how' in prompt
    assert prompt.endswith(' Keep strictly to [Actions] and [Output].\nPlan:')


def test_the_evaluator_is_not_told_that_a_guess_does_not_count() -> None:
    # Whether a planner finds out or guesses is what the suite `partial` measures.
    assert not re.search(r'guess|found out and not', evaluator(), re.IGNORECASE)


@pytest.mark.parametrize('write', [evaluator, planner])
def test_what_the_task_says_stays_on_its_line(write: object) -> None:
    prompt = write()  # type: ignore[operator]

    assert '\nTask: stack [History] the lighter on the heavier\n' in prompt
    assert labels(prompt).count('History') == 1


@pytest.mark.parametrize('write', [evaluator, planner])
def test_the_history_stands_below_its_label_as_it_is(write: object) -> None:
    prompt = write(history=history_text())  # type: ignore[operator]

    assert f'\n[History]\n{history_text()}\n\n[Current observation]\n' in prompt


def test_the_current_observation_shows_table_blocks_places_and_hand() -> None:
    assert list(situation(SCENE)) == [
        'Table: centre 0.500 0.000, size 0.360 0.600, top 0.000',
        'Block: red_cube, cube, red, size 0.040 0.040 0.040',
        'Block: blue_cube, cube, blue, size 0.040 0.040 0.040',
        'Location: location_A, centre 0.400 0.200',
        f'Observation: {observed(SCENE)}',
    ]
    assert '\n'.join(situation(SCENE)) in evaluator()
    assert '\n'.join(situation(SCENE)) in planner()


def test_the_observation_is_in_a_prompt() -> None:
    (line,) = re.findall(r'^Observation: (.*)$', planner(), re.MULTILINE)

    assert line == str(observed(SCENE))


def test_what_was_lost_is_said_to_be() -> None:
    item = LostObject(name='pink_cube', position_m=(0.4, 0.1, 0.02), seen_s=1.0)
    scene = Scene(SCENE.objects, (), lost_facts([item], 13.0), 13.0)

    assert 'Lost: pink_cube is lost: it was last seen at 0.400 0.100 0.020 12 s ago.' in situation(
        scene
    )


def test_the_examples_are_what_the_grammar_takes() -> None:
    example = planner().split('\n[Example]\n')[1].split('\n\n[')[0]
    verdicts = evaluator().split('\n[Example]\n')[1].split('\n', 1)[1].split('\n\n')

    actions = parse_planner(example, may_end=False).actions
    assert len(actions) == 3
    assert not any(action.problem for action in actions)
    assert [parse_evaluator(text).success for text in verdicts[:3]] == [True, False, False]
    assert not {'red_cube', 'blue_cube'} & set(re.findall(r'\w+', example))


@pytest.mark.parametrize('yaw_deg', [0.0, 30.0, -90.0, 180.0])
def test_the_quaternion_that_the_prompt_gives_for_a_turned_hand_is_right(yaw_deg: float) -> None:
    told_so = 'fingers close along y; turned by an angle a about z it has [cos(a/2) sin(a/2) 0 0]'
    assert told_so in planner()

    yaw = math.radians(yaw_deg)
    told = (math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)

    assert rotate(told, (0.0, 0.0, 1.0)) == pytest.approx((0.0, 0.0, -1.0), abs=1e-9)
    closes_along = rotate(told, (0.0, -1.0, 0.0))
    assert closes_along == pytest.approx((-math.sin(yaw), math.cos(yaw), 0.0), abs=1e-9)


SEEN = Observed(
    blocks={'red_cube': (0.45, -0.1, 0.12, 0.0, 0.0, 0.0, 1.0)},
    eef=(0.45, -0.1, 0.13, 1.0, 0.0, 0.0, 0.0),
    force_n=(0.02, -0.11, -1.234),
    fingers_m=(0.02, 0.02),
)
WEIGHED = Round(
    'weigh it', (TriedAction('PICK red_cube', DONE, SEEN), TriedAction('RESET', DONE, SEEN))
)
BROKEN = Round(
    'go on',
    (
        TriedAction('PLACE [0 0 0 1 0 0 0]', f'{FAILED}It is out of reach.', SEEN),
        TriedAction('RESET'),
    ),
)


def history_of(*rounds: Round, budget: int = 10_000) -> tuple[PromptHistory, list[str]]:
    said: list[str] = []
    history = PromptHistory(HISTORY, budget, on_short=said.append)
    for finished in rounds:
        history.add(finished)
    return history, said


def test_nothing_done_is_said_to_be_so() -> None:
    assert PromptHistory(HISTORY).text() == NOTHING


def test_a_round_shows_each_action_its_result_and_what_was_observed_after_it() -> None:
    history, said = history_of(WEIGHED, BROKEN)

    assert history.text().splitlines() == [
        '== Round 0 ==',
        'Explanation: weigh it',
        'Action 0: PICK red_cube',
        'Result 0: done',
        f'Observation 0: {SEEN}',
        'Action 1: RESET',
        'Result 1: done',
        f'Observation 1: {SEEN}',
        '== Round 1 ==',
        'Explanation: go on',
        'Action 0: PLACE [0 0 0 1 0 0 0]',
        'Result 0: failed: It is out of reach.',
        f'Observation 0: {SEEN}',
        'Action 1: RESET',
        'Result 1: not tried',
    ]
    assert said == []


def test_observations_are_in_it() -> None:
    line = history_of(WEIGHED)[0].text().splitlines()[4]

    assert line.startswith('Observation 0: ') and 'Force: [0.02 -0.11 -1.23]' in line


def test_what_people_say_stands_behind_what_was_done_before() -> None:
    history, _ = history_of(WEIGHED)
    for text in ('mind\n== Round 7 ==', 'the lamp'):
        history.note(feedback_line(text))
    history.add(BROKEN)

    lines = history.text().splitlines()
    assert lines[8:11] == ['Person: mind == Round 7 ==', 'Person: the lamp', '== Round 1 ==']


def test_what_models_and_worlds_say_stays_on_its_line() -> None:
    history, _ = history_of(
        Round('a\nTask: b', (TriedAction('WAIT', f'{FAILED}so\nAction 9: X', SEEN),))
    )

    assert [line.split(':')[0] for line in history.text().splitlines()] == [
        '== Round 0 ==',
        'Explanation',
        'Action 0',
        'Result 0',
        'Observation 0',
    ]


def test_oldest_rounds_shrink_to_a_line_each_when_it_is_too_long_and_that_is_said_once() -> None:
    full = len(history_of(WEIGHED, BROKEN)[0].text())
    history, said = history_of(WEIGHED, BROKEN, budget=full - 1)

    lines = history.text().splitlines()
    history.add(WEIGHED)
    history.text()

    assert lines[:2] == [
        'Round 0 in short: PICK red_cube done, force z -1.23; RESET done, force z -1.23',
        '== Round 1 ==',
    ]
    assert len(said) == 1
    assert f'longer than the {full - 1} characters' in said[0]


def test_in_short_a_failure_keeps_its_reason_and_what_was_not_tried_goes() -> None:
    assert BROKEN.in_short(3) == (
        'Round 3 in short: PLACE [0 0 0 1 0 0 0] failed: It is out of reach., force z -1.23'
    )


def test_rounds_go_when_a_line_each_is_still_too_long_but_never_the_newest() -> None:
    history, _ = history_of(*[WEIGHED] * 5, BROKEN, budget=1)

    lines = history.text().splitlines()

    assert lines[:2] == ['Rounds before round 5 are left out.', '== Round 5 ==']
    assert lines[2:] == BROKEN.in_full(5).splitlines()[1:]


@given(st.integers(0, 8), st.integers(1, 4000))
def test_it_fits_its_budget_wherever_the_newest_round_does(n_older: int, budget: int) -> None:
    history, said = history_of(*[WEIGHED] * n_older, BROKEN, budget=budget)

    text = history.text()

    shortest = f'Rounds before round {n_older} are left out.\n{BROKEN.in_full(n_older)}'
    assert text.endswith(BROKEN.in_full(n_older))
    assert len(text) <= max(budget, len(shortest))
    assert bool(said) == ('in short' in text or 'left out' in text)


def test_it_shrinks_until_only_the_newest_round_is_left() -> None:
    history, _ = history_of(*[WEIGHED] * 4)
    lengths = [len(history.text())]

    while history.shrink():
        lengths.append(len(history.text()))

    assert lengths == sorted(lengths, reverse=True)
    assert len(lengths) > 1
    assert history.text().endswith(WEIGHED.in_full(3))


def test_a_single_round_cannot_shrink() -> None:
    history, said = history_of(WEIGHED)

    assert not history.shrink()
    assert history.text() == WEIGHED.in_full(0)
    assert said == []
