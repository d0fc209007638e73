"""Faults of robot and model at once: how trials are drawn and played, and what they break."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from bbllm.core.errors import ModelError
from bbllm.core.events import Ending, Event
from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import ModelRequest, OnText, Reply
from bbllm.core.registry import load_planners
from bbllm.core.types import Outcome, SkillCall
from bbllm.sim.faults import Fault
from bbllm_bench.benchmarks.faults import playing
from bbllm_bench.benchmarks.faults.crossed import CrossedResult, CrossedTrial, draw
from bbllm_bench.benchmarks.faults.model_faults import ModelFault, ServedModel
from bbllm_bench.benchmarks.faults.playing import WatchedTable, play
from bbllm_bench.benchmarks.reply_forms import PLANNERS

ROBOT = [None, *Fault]
PLAIN = CrossedTrial(
    number=0,
    planner='brain_body',
    robot=None,
    model=ModelFault.NONE,
    after_goals=2,
    delay_s=0.2,
    first_request=0,
    lasting=False,
    approves=True,
    person=True,
    seed=1,
)


def broken(result: CrossedResult) -> set[str]:
    return {violation.invariant for violation in result.violations}


def test_each_pair_of_faults_has_its_share_and_the_planners_take_turns() -> None:
    trials = draw(1000, 7, PLANNERS, ROBOT, list(ModelFault))

    pairs = Counter((trial.robot, trial.model) for trial in trials)
    assert set(pairs) == set(product(ROBOT, ModelFault))
    assert set(pairs.values()) == {10, 11}
    for key in ('robot', 'model'):
        meetings = Counter((trial.names[key], trial.planner) for trial in trials)
        assert len(meetings) == len(PLANNERS) * len({trial.names[key] for trial in trials})
        assert max(meetings.values()) - min(meetings.values()) <= 3


def test_a_trial_depends_on_seed_and_number_alone() -> None:
    many = draw(300, 7, PLANNERS, ROBOT, list(ModelFault))

    assert draw(120, 7, PLANNERS, ROBOT, list(ModelFault)) == many[:120]
    assert draw(300, 8, PLANNERS, ROBOT, list(ModelFault)) != many


def test_every_planner_of_the_table_is_answered() -> None:
    specs, _ = load_planners()
    of_table = {name for name, spec in specs.items() if 'tabletop' in spec.domains}

    assert {*PLANNERS} == {name for name in of_table if _is_ours(specs[name].factory)}


@pytest.mark.parametrize('planner', PLANNERS)
def test_a_planner_that_is_answered_finishes_without_a_fault(planner: str) -> None:
    result = play(replace(PLAIN, planner=planner))

    assert (result.ending, result.violations) == (Ending.FINISHED, ())


def _is_ours(factory: object) -> bool:
    return str(getattr(factory, '__module__', '')).startswith(
        ('bbllm.planners.', 'bbllm_planners.')
    )


@pytest.mark.parametrize('lasting', [False, True])
@pytest.mark.parametrize('fault', [fault for fault in ModelFault if fault is not ModelFault.NONE])
def test_each_fault_of_the_model_strikes_and_ends_clearly(
    fault: ModelFault, lasting: bool
) -> None:
    result = play(replace(PLAIN, model=fault, lasting=lasting))

    assert result.requests_struck >= 1
    assert result.violations == ()
    harmless = fault in (ModelFault.SLOW, ModelFault.SWAPPED)
    asked_again = fault is not ModelFault.ENDLESS and not lasting
    expected = Ending.FINISHED if harmless or asked_again else Ending.MODEL_FAILED
    assert result.ending is expected


@pytest.mark.parametrize('fault', list(Fault))
def test_each_fault_of_the_robot_strikes_beside_one_of_the_model(fault: Fault) -> None:
    trial = replace(PLAIN, robot=fault, model=ModelFault.CUT, person=False)

    result = play(trial)

    assert result.robot_struck
    assert result.requests_struck == 1
    assert result.violations == ()


def test_time_passes_while_a_person_is_waited_for() -> None:
    result = play(replace(PLAIN, robot=Fault.USER_STOP))

    assert result.ending is Ending.FINISHED
    assert result.questions >= 2  # the plan, and whether the robot may go on
    assert result.waited_s >= result.questions * playing.THINKS_S


# --- invariants that are broken on purpose ---------------------------------------------------


def move_while_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    approve = WatchedTable.approve

    def hasty(table: WatchedTable, request: Any) -> Any:
        table.robot.move_gripper(0.01, 0.1)
        return approve(table, request)

    monkeypatch.setattr(WatchedTable, 'approve', hasty)


def lose_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    write = JournalWriter.__call__

    def careless(journal: JournalWriter, event: Event) -> None:
        if not isinstance(event.data, Outcome):
            write(journal, event)

    monkeypatch.setattr(JournalWriter, '__call__', careless)


def forge_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ServedModel.ask

    def forge(model: ServedModel, request: ModelRequest, on_text: OnText | None) -> Reply:
        return replace(ask(model, request, on_text), model='another')

    monkeypatch.setattr(ServedModel, 'ask', forge)


def act_without_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    execute = WatchedTable.execute

    def twice(table: WatchedTable, call: SkillCall) -> Outcome:
        execute(table, SkillCall('return_to_base'))
        return execute(table, call)

    monkeypatch.setattr(WatchedTable, 'execute', twice)


def fail_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: ServedModel, *_: object) -> None:
        model.asked += 1
        raise ModelError('It did not work.')

    monkeypatch.setattr(ServedModel, 'ask', fail)


RELEASED = threading.Event()
"""Ends the threads that `leave_a_thread` leaves."""


def leave_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = playing.answer
    RELEASED.clear()

    def busy(planner: str, request: Any) -> str:
        threading.Thread(target=RELEASED.wait, args=(600,), name='left', daemon=True).start()
        return answer(planner, request)

    monkeypatch.setattr(playing, 'answer', busy)
    monkeypatch.setattr(playing, 'LEFT_S', 0.1)


def drop_the_cube(monkeypatch: pytest.MonkeyPatch) -> None:
    unrest = WatchedTable.unrest

    def throw(table: WatchedTable) -> Iterator[str]:
        yield from unrest(table)
        (cube,) = (item for item in table.robot.objects() if item.name == playing.OBJECT)
        table.robot.set_object_pose(cube.name, replace(cube.pose, position_m=(2.0, 0.0, 0.02)))

    monkeypatch.setattr(WatchedTable, 'unrest', throw)


def push_the_cube(monkeypatch: pytest.MonkeyPatch) -> None:
    unrest = WatchedTable.unrest

    def release(table: WatchedTable) -> Iterator[str]:
        (cube,) = (item for item in table.robot.objects() if item.name == playing.OBJECT)
        x, y, z = cube.pose.position_m
        table.robot.set_object_pose(cube.name, replace(cube.pose, position_m=(x, y, z + 0.05)))
        yield from unrest(table)

    monkeypatch.setattr(WatchedTable, 'unrest', release)


@pytest.mark.parametrize(
    ('sabotage', 'invariants'),
    [
        (move_while_asked, {'waits'}),
        (lose_outcomes, {'journal'}),
        (forge_a_name, {'models'}),
        (act_without_a_record, {'outcomes'}),
        (fail_without_a_word, {'clear', 'done'}),
        (leave_a_thread, {'left'}),
        (drop_the_cube, {'done', 'held'}),
        (push_the_cube, {'rest'}),
    ],
)
def test_a_broken_invariant_is_found(
    monkeypatch: pytest.MonkeyPatch,
    sabotage: Callable[[pytest.MonkeyPatch], None],
    invariants: set[str],
) -> None:
    sabotage(monkeypatch)

    try:
        result = play(PLAIN)
    finally:
        RELEASED.set()

    assert broken(result) >= invariants
    assert not result.good


def test_an_episode_that_hangs_is_ended_and_where_it_waited_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = threading.Event()

    def wait_for_ever(planner: str, request: Any) -> str:
        gone.wait(20)
        return ''

    monkeypatch.setattr(playing, 'answer', wait_for_ever)
    monkeypatch.setattr(playing, 'TRIAL_S', 1.0)
    monkeypatch.setattr(playing, 'GRACE_S', 0.1)
    monkeypatch.setattr(playing, 'LEFT_S', 0.1)

    result = play(PLAIN)
    gone.set()

    assert result.ending is None
    assert {'ends', 'left'} <= broken(result)
    assert 'wait_for_ever (test_crossed_faults.py' in result.message


# --- the command ------------------------------------------------------------------------------


@pytest.mark.slow  # episodes in physics
def test_the_command_reports_and_plays_one_trial_again(
    bbllm: Callable[..., Result], tmp_path: Path
) -> None:
    out = tmp_path / 'faults.json'
    words = ('bench', 'faults', '--planner', 'brain_body,llm_state', '--seed', '3', '--out')

    whole = bbllm(*words, str(out), '--trials', '4', '--json')
    report = json.loads(out.read_text())
    again = bbllm(*words, str(tmp_path / 'one.json'), '--only', '2')
    (one,) = json.loads((tmp_path / 'one.json').read_text())['results']

    assert whole.exit_code == again.exit_code == 0, whole.output
    assert json.loads(whole.stdout)['good'] == report['good'] == 4
    assert [result['trial']['number'] for result in report['results']] == [0, 1, 2, 3]
    assert one['trial'] == report['results'][2]['trial']
    assert one['ending'] == report['results'][2]['ending']


def test_a_broken_invariant_is_reported_with_its_trial(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lose_outcomes(monkeypatch)

    result = bbllm(
        'bench', 'faults', '--planner', 'brain_body', '--fault', 'none', '--model-fault', 'none',
        '--trials', '1', '--out', str(tmp_path / 'faults.json'),
    )  # fmt: skip

    assert result.exit_code == 1
    assert (
        'trial 0, brain_body, robot none, model none: FINISHED, broken: journal' in result.output
    )
    assert 'with --only NUMBER' in result.output
    assert '0 of 1 trials' in ' '.join(result.output.split())


@pytest.mark.parametrize(
    ('words', 'remedy'),
    [
        (('--model-fault', 'cut'), 'add --planner all'),
        (('--planner', 'fltrnn'), 'Choose one that does: agent, base_llm'),
        (('--planner', 'all', '--model-fault', 'cutt'), "Did you mean 'cut'?"),
        (('--planner', 'all', '--fault', 'reflexx'), "Did you mean 'reflex'?"),
        (('--planner', 'all', '--only', 'x'), 'such as --only 7,12'),
    ],
)
def test_what_cannot_be_crossed_is_refused_with_what_can(
    bbllm: Callable[..., Result], words: Sequence[str], remedy: str
) -> None:
    result = bbllm('bench', 'faults', *words)

    assert result.exit_code == 2
    assert remedy in ' '.join(result.output.split())
