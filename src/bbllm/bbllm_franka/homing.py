"""Homes a Franka Hand, once a person has approved it: the hand closes and opens."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from bbllm.api.approved_world import Approve, answer_of
from bbllm.api.local_session import need_approval
from bbllm.arm.driver import GoalStatus, GripperResult
from bbllm.core.approval import ApprovalRequest, RequestKind, new_nonce
from bbllm.core.errors import ApprovalError, WorldError
from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted
from bbllm.core.journal import JournalWriter
from bbllm.core.paths import episodes_dir
from bbllm.core.tasks import make_task
from bbllm.robots.registry import load_robot
from bbllm_franka.address import check_address
from bbllm_franka.hand import HandLink


def homing_request(address: str, why: str) -> ApprovalRequest:
    """Return the question whether a hand may be homed; *why* is '' where it need not be."""
    return ApprovalRequest(
        kind=RequestKind.CALL,
        title=f'Homing of the hand at {address}. May it be done?',
        about=(
            'the hand closes as far as it can, then opens as far as it can',
            'what it holds falls, and what is between its fingers is squeezed',
        ),
        reason=why,
        nonce=new_nonce(),
    )


def home_hand(
    ip: str,
    approve: Approve | None = None,
    *,
    simulated_robot: bool = False,
    robot: str = 'fr3',
    is_cut: Callable[[], bool] = bool,
) -> float:
    """
    Home the hand at an address and return its widest opening [m].

    *approve* is asked before the hand moves, as for `Robot`; only a simulated one moves without
    it. The hand stops once *is_cut* returns True. It serves one program at a time: end others
    first. Who approved it, and how it ended, is in a journal, as of an episode.

    Raises:
        ApprovalError: It was not approved; nothing has moved.
        ConfigError: A real hand, and nobody to ask; or the extra `franka` is not installed.
        WorldError: One of `bbllm_franka.errors`, or the hand has failed.
    """
    if not simulated_robot:
        need_approval(approve)
    address = check_address(ip, simulated=simulated_robot)
    model = load_robot(robot).hand
    with closing(HandLink(address)) as hand, _recorded(address, simulated_robot) as journal:
        if approve is not None:
            request = homing_request(address, hand.unhomed(model))
            answer = answer_of(approve(request))
            journal.add(answer.event_about(request))
            if not answer.granted:
                why = f': {answer.reason}' if answer.reason else ''
                raise ApprovalError(f'The homing was not approved{why}. Nothing has moved.')
        result = hand.home(is_cut)
        if why := _failure(result, hand.unhomed(model)):
            raise WorldError(
                f'The hand at {address} was not homed: {why}. Take what is between the fingers '
                'away, check the hand in Desk, and try again.'
            )
        return hand.max_width_m


@contextmanager
def _recorded(address: str, simulated: bool) -> Iterator[JournalWriter]:
    """Keep the record of a homing, like that of an episode."""
    task = make_task(f'home the hand at {address}')
    with JournalWriter(episodes_dir(), task.id) as journal:
        journal.add(
            EpisodeStarted(
                episode_id=task.id,
                task=task.instruction,
                planner='',
                brain='',
                body='',
                settings={'simulated_robot': simulated},
            )
        )
        try:
            yield journal
        except BaseException as error:
            failed = isinstance(error, WorldError)
            ending = Ending.WORLD_FAILED if failed else Ending.CANCELLED
            journal.add(EpisodeEnded(ending, str(error), type(error).__name__))
            raise
        journal.add(EpisodeEnded(Ending.FINISHED, 'The hand is homed.'))


def _failure(result: GripperResult, fault: str) -> str:
    """Return why a homing failed, by its result and the state of the hand; '' where it did not."""
    if result.status is GoalStatus.CANCELED:
        return 'it was stopped'
    return fault if result.success else result.error or fault or 'it reported no reason'
