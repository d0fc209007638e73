"""Who has gone, who only says nothing, and who was kept from listening."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bbllm.core.errors import DuplicateNodeError, LostNodeError
from bbllm_ros.rclpy_support import peer_process
from bbllm_ros.rclpy_support.liveness import FAR_S, HANGS_S, PERIOD_S, QUIET_S, Liveness
from bbllm_ros.rclpy_support.peer_process import PeerProcess, ProcessState
from tests.ros.stacks import until

NAME = 'fr3_executor'
PEER = PeerProcess('boot/pid:[1]', 77, '1234')
BEAT = f'{NAME} first {PEER}'


class Watched:
    def __init__(self, state: ProcessState = ProcessState.LIVES):
        self.now_s = 100.0
        self.state = state
        self.observations: list[PeerProcess] = []
        self.liveness = Liveness(lambda: self.now_s, self._observe)

    def _observe(self, process: PeerProcess) -> ProcessState:
        self.observations.append(process)
        return self.state

    def listen(self, silence_s: float) -> None:
        for _ in range(round(silence_s / PERIOD_S)):
            self.now_s += PERIOD_S
            self.liveness.turn()

    def error(self, since_s: float = float('inf')) -> str:
        try:
            self.liveness.check([NAME], since_s)
        except LostNodeError as error:
            return str(error)
        return ''


def after_beat(state: ProcessState, beat: str = BEAT) -> Watched:
    watched = Watched(state)
    watched.liveness.receive(beat)
    return watched


def test_a_beat_that_comes_after_the_last_one_of_its_life_takes_back_no_reason() -> None:
    watched = after_beat(ProcessState.GONE)
    watched.liveness.receive(f'{NAME} first !its work is done')

    watched.liveness.receive(BEAT)

    watched.listen(QUIET_S)
    assert 'its work is done' in watched.error()


def test_a_node_whose_process_has_ended_is_lost_after_three_beats() -> None:
    watched = after_beat(ProcessState.GONE)
    watched.listen(QUIET_S - PERIOD_S)
    assert watched.error() == ''
    assert watched.liveness.alive(NAME)
    assert watched.observations == []

    watched.listen(PERIOD_S)

    assert watched.error() == (
        'The node fr3_executor has gone: its process 77 has ended without a last message, so it '
        'was killed or crashed. Start the stack again.'
    )
    assert set(watched.observations) == {PEER}
    assert not watched.liveness.alive(NAME)


@pytest.mark.parametrize(
    ('state', 'beat', 'silence_s', 'error'),
    [
        (ProcessState.LIVES, BEAT, HANGS_S, 'gone: its process 77 lives but hangs'),
        (ProcessState.STOPPED, BEAT, QUIET_S, 'gone: its process 77 is stopped'),
        (ProcessState.STOPPED, BEAT, QUIET_S, 'kill -CONT 77'),
        *(
            (ProcessState.UNKNOWN, beat, FAR_S, 'gone: it has been silent for 5.0 s. Start')
            for beat in (BEAT, f'{NAME} first', f'{NAME} first here x 3')
        ),
    ],
)
def test_a_silent_node_is_lost_according_to_the_state_of_its_process(
    state: ProcessState, beat: str, silence_s: float, error: str
) -> None:
    watched = after_beat(state, beat)
    watched.listen(silence_s - PERIOD_S)
    assert watched.error() == ''

    watched.listen(PERIOD_S)

    assert watched.error().startswith('The node fr3_executor has gone: ')
    assert error in watched.error()


def test_a_listener_that_was_kept_waiting_blames_nobody() -> None:
    watched = after_beat(ProcessState.GONE)
    watched.now_s += 1000.0
    assert watched.error() == ''

    watched.liveness.turn()  # one that comes late is one all the same

    assert watched.error() == ''


def test_a_listener_whose_turns_have_ended_raises_instead_of_waiting_for_ever() -> None:
    watched = after_beat(ProcessState.LIVES)

    def checked(times: int) -> set[str]:
        reported = set()
        for _ in range(times):
            reported.add(watched.error())
            watched.now_s += PERIOD_S
        return reported

    assert checked(round(HANGS_S / PERIOD_S)) == {''}
    assert watched.error().startswith(
        'This process receives no heartbeat of another node any more'
    )
    watched.liveness.turn()
    assert checked(round(HANGS_S / PERIOD_S)) == {''}


def test_last_beat_of_a_node_that_comes_after_the_first_of_the_next_is_no_third_life() -> None:
    watched = Watched()
    for life in ('first', 'second'):
        watched.liveness.receive(f'{NAME} {life}')
    since_s = watched.now_s

    watched.now_s += 1.0
    for life in ('first', 'second', 'first'):
        watched.liveness.receive(f'{NAME} {life}')
    assert watched.error(since_s) == ''

    watched.liveness.receive(f'{NAME} third')
    assert 'was started anew' in watched.error(since_s)
    assert watched.error(watched.now_s) == ''
    assert watched.error() == ''


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """Start a process that tells how others know it, and does nothing more."""
    program = (
        'import sys\nfrom bbllm_ros.rclpy_support.peer_process import PeerProcess\n'
        'print(PeerProcess.own(), flush=True)\nsys.stdin.read()'
    )
    process = subprocess.Popen(
        [sys.executable, '-c', program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def state_of(child: subprocess.Popen[str]) -> Callable[[], ProcessState]:
    assert child.stdout is not None
    peer = PeerProcess.parse(child.stdout.readline().strip())
    assert peer is not None and peer.number == child.pid
    return peer.state


def test_a_process_is_seen_to_be_stopped_to_go_on_and_to_end(child: subprocess.Popen[str]) -> None:
    state = state_of(child)
    assert state() is ProcessState.LIVES

    child.send_signal(signal.SIGSTOP)
    until(lambda: state() is ProcessState.STOPPED, 'stop')
    child.send_signal(signal.SIGCONT)
    until(lambda: state() is ProcessState.LIVES, 'process that goes on')
    child.kill()

    until(lambda: state() is ProcessState.GONE, 'end')  # a zombie
    child.wait()
    assert state() is ProcessState.GONE


def test_a_process_is_known_by_its_start_and_machine_also_where_its_files_are_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    def hide(_: int) -> tuple[str, str]:
        raise FileNotFoundError

    own = PeerProcess.own()
    assert own is not None and own.number == os.getpid()
    assert replace(own, place='another machine').state() is ProcessState.UNKNOWN
    for kill in (os.kill, refuse):  # the second as for a process of another user
        monkeypatch.setattr(os, 'kill', kill)
        assert own.state() is ProcessState.LIVES
        assert replace(own, started='1').state() is ProcessState.GONE
    monkeypatch.setattr(peer_process, '_state_and_start', hide)
    assert own.state() is ProcessState.LIVES


@pytest.mark.parametrize(
    'text', ['', 'here', 'here 7', 'here -7 1', 'here 0 1', 'a 7 1 b', 'a ² 1']
)
def test_what_names_no_process_is_none(text: str) -> None:
    assert PeerProcess.parse(text) is None


def unique(watched: Watched) -> str:
    try:
        watched.liveness.check_unique([NAME])
    except DuplicateNodeError as error:
        return str(error)
    return ''


def test_two_processes_that_beat_under_one_name_are_noticed_until_one_is_silent() -> None:
    other = replace(PEER, number=88)
    watched = Watched(ProcessState.LIVES)
    for _ in range(round(QUIET_S / PERIOD_S) + 1):
        assert unique(watched) == ''
        watched.liveness.receive(BEAT)
        watched.liveness.receive(f'{NAME} second {other}')
        watched.listen(PERIOD_S)

    assert unique(watched).startswith(
        'Two nodes are named fr3_executor in this namespace (process 77 and process 88), so '
        'nothing moves.'
    )

    for _ in range(round(QUIET_S / PERIOD_S)):
        watched.liveness.receive(BEAT)
        watched.listen(PERIOD_S)
    assert unique(watched) == ''


def test_process_that_was_started_again_is_no_second_one() -> None:
    watched = Watched(ProcessState.LIVES)
    for life in ('first', 'second', 'third'):
        for _ in range(10):
            watched.liveness.receive(f'{NAME} {life} {PEER}')
            watched.listen(PERIOD_S)
            assert unique(watched) == ''


def test_beat_of_the_same_name_is_that_of_another_process_while_that_lives() -> None:
    watched = after_beat(ProcessState.LIVES)
    assert watched.liveness.others(NAME, own=['mine']) == [PEER]
    assert watched.liveness.others(NAME, own=['first']) == []

    watched.state = ProcessState.GONE
    assert watched.liveness.others(NAME, own=['mine']) == []

    watched.state = ProcessState.LIVES
    watched.listen(QUIET_S)
    assert watched.liveness.others(NAME, own=['mine']) == []


def test_last_beat_gives_the_reason_of_the_end() -> None:
    watched = after_beat(ProcessState.GONE)
    watched.liveness.receive(f'{NAME} first !fault in a callback')
    watched.listen(QUIET_S)

    assert watched.error() == (
        'The node fr3_executor has gone: fault in a callback. Start the stack again.'
    )
    watched.liveness.receive(f'{NAME} second {PEER}')
    assert watched.error() == ''


@pytest.mark.parametrize('hurried', [False, True])
def test_a_last_beat_that_waits_is_taken_in_before_the_process_counts_as_killed(
    hurried: bool,
) -> None:
    watched = after_beat(ProcessState.GONE)
    watched.liveness.take_waiting = lambda: watched.liveness.receive(f'{NAME} first !fault in it')
    if hurried:
        watched.liveness.hurry()
        assert watched.error() == ''
    watched.listen(QUIET_S)

    assert watched.error() == 'The node fr3_executor has gone: fault in it. Start the stack again.'
    with pytest.raises(LostNodeError, match='fault in it'):
        watched.liveness.check_serving([NAME])


def test_who_is_in_a_hurry_sees_the_end_of_a_process_before_its_silence() -> None:
    watched = after_beat(ProcessState.GONE)
    assert watched.error() == ''
    with pytest.raises(LostNodeError, match='process 77 has ended'):
        watched.liveness.check_serving([NAME])

    watched.liveness.hurry()

    assert 'process 77 has ended' in watched.error()
    assert watched.liveness.has_ended(NAME)
    watched.liveness.receive(f'{NAME} first !it was asked to end')
    assert watched.error() == ''  # it ends with the others, and is not the reason


def test_a_node_that_gives_the_reason_is_named_before_those_that_ended_with_it() -> None:
    watched = after_beat(ProcessState.GONE)
    watched.liveness.receive(f'state_estimator first {PEER}')
    watched.liveness.receive(f'brain_planner first {PEER}')
    watched.liveness.hurry()
    nodes = ['fr3_executor', 'brain_planner', 'state_estimator']

    # As after `kill -9` of who started them: one gives the reason, the word of another is lost.
    watched.liveness.receive('brain_planner first !bbllm up (7), which started it, has ended')
    watched.liveness.check(nodes)
    watched.listen(QUIET_S)

    with pytest.raises(LostNodeError, match=r'planner has gone: bbllm up \(7\), which started it'):
        watched.liveness.check(nodes)
    # And as where the planner was asked to end since another node had been killed.
    watched.liveness.receive(
        'brain_planner first !The node state_estimator has gone: it was killed'
    )
    with pytest.raises(LostNodeError) as caught:
        watched.liveness.check(nodes)
    assert str(caught.value) == (
        'The node state_estimator has gone: it was killed. Start the stack again.'
    )


def test_a_process_that_stood_still_knows_for_how_long() -> None:
    watched = after_beat(ProcessState.LIVES)
    watched.listen(5.0)
    assert watched.liveness.stood_still_s() == 0.0

    watched.now_s += 7.0

    assert watched.liveness.stood_still_s() == 7.0
    watched.listen(PERIOD_S)
    assert watched.liveness.stood_still_s() == 7.5
    watched.listen(20.0)
    assert watched.liveness.stood_still_s() == 0.0
