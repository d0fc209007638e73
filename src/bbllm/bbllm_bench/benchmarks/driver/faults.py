"""Faults between libfranka and the robot, or of the robot, and what came of them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bbllm.core.errors import BbllmError
from bbllm.core.types import SkillCall
from bbllm.scene.scene_file import load_scene
from bbllm_bench.benchmarks.arm.trials import pick_place_calls, random_pick_place
from bbllm_bench.benchmarks.driver.clients import (
    BBLLM,
    FRANKY,
    POLL_S,
    WAIT_S,
    Client,
    FrankyClient,
    ProgramClient,
    TaskClient,
)
from bbllm_bench.benchmarks.driver.lossy_link import Losses
from bbllm_bench.benchmarks.driver.servers import (
    FRANKA_SIM,
    SCENE,
    TABLE,
    FrankaSimServer,
    Server,
    TableServer,
)

MOVES_RAD_S = 0.05
"""A joint that is faster moves [rad/s]."""
RESTS_RAD_S = 0.01
"""Where every joint is slower, the arm is at rest [rad/s]."""
REST_S = 5.0
"""How long an arm may take to come to rest [s]."""
REST_READINGS = 5
"""How many readings in a row must show it at rest."""
PICK = SkillCall('pick', ('red_cube',))
TASK = 'put the red cube on location_B'
DONE = r'done$'
ADVICE = r'(Check|See|Make sure|release|connects anew)'
"""What has to be done is part of every error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultReport:
    """What came of a fault."""

    fault: str
    server: str
    client: str
    ended: str
    """How the motion ended in which it happened, in the words that the program's user gets."""
    reflexes: tuple[str, ...]
    at_rest: bool
    """Whether the arm rested then, by the server's own physics."""
    again: str
    """How the next motion ended, once the fault was over."""
    unexpected: str = ''
    """What is not as it should be; only of our own driver, '' where all is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, and how our driver ends it."""

    name: str
    server: str
    ended: str
    """Pattern of how the motion ends."""
    before: Callable[[Server], None] = lambda server: None
    """Makes it happen before a program connects."""
    strike: Callable[[Server, Client], None] | None = None
    """Makes it happen in the middle of a motion; None where the motion itself meets it."""
    after: Callable[[Server], None] = lambda server: None
    """Ends it, before the next motion or when a person is asked."""
    clients: Sequence[str] = (BBLLM, FRANKY)
    tall: bool = False
    """Whether the red cube is a post."""
    second: bool = False
    """Whether it is that another program connects."""
    whole: bool = False
    """Whether our program is a process of its own, which can be killed."""
    franky_does: str = 'move'


def _link(losses: Losses) -> Callable[[Server, Client], None]:
    def strike(server: Server, client: Client) -> None:
        assert isinstance(server, FrankaSimServer)
        server.lose(losses)

    return strike


def _whole_again(server: Server) -> None:
    assert isinstance(server, FrankaSimServer)
    server.lose(Losses())


def _restart(server: Server, client: Client) -> None:
    assert isinstance(server, FrankaSimServer)
    server.restart()


def _type(line: str) -> Callable[[Server], None]:
    def typed(server: Server) -> None:
        assert isinstance(server, TableServer)
        server.table.send(line)

    return typed


def _kill(server: Server, client: Client) -> None:
    client.kill()


def _lost(name: str, losses: Losses) -> Fault:
    return Fault(
        name=name,
        server=FRANKA_SIM,
        ended=f'{DONE}|COMMUNICATION_LOSS: .*stopped|discontinuity, as where commands come late',
        strike=_link(losses),
        after=_whole_again,
    )


FAULTS = (
    _lost('1 % of the packets lost', Losses(share=0.01)),
    _lost('five in a row, every 200', Losses(share=0.005, burst=5)),
    _lost('25 in a row, every 300', Losses(share=0.003, burst=25)),
    _lost('each packet 2 to 4 ms late', Losses(delay_s=0.002, jitter_s=0.002)),
    Fault(
        name='process of the 1 kHz loop killed',
        server=FRANKA_SIM,
        ended='LostRobotError: .*connects anew',
        strike=_kill,
        clients=(BBLLM,),
    ),
    Fault(
        name='server killed and started again',
        server=FRANKA_SIM,
        ended='LostRobotError: .*connects anew',
        strike=_restart,
    ),
    Fault(
        name='user stop pressed and released',
        server=TABLE,
        ended='asked: ".*user stop.*release the user stop',
        strike=lambda server, client: _type('fault user_stop')(server),
        after=_type('clear user_stop'),
    ),
    Fault(
        name='the red cube is a post, unlike in the scene',
        server=TABLE,
        ended='REFLEX: .*more force than it may',
        tall=True,
        franky_does='reach',
    ),
    Fault(
        name='robot of another version',
        server=TABLE,
        ended='VersionError: .*5.9.0',
        before=_type('fault old_system'),
        after=_type('clear old_system'),
    ),
    Fault(
        name='hand not homed',
        server=TABLE,
        ended='UnhomedError: .*bbllm home',
        before=_type('fault hand_not_homed'),
        after=_type('clear hand_not_homed'),
        franky_does='grasp',
    ),
    Fault(
        name='program killed (kill -9)',
        server=TABLE,
        ended=r'exit code -9; its journal has [1-9]\d* events',
        strike=_kill,
        whole=True,
    ),
    Fault(
        name='a second program',
        server=FRANKA_SIM,
        ended='ControlTakenError|NoRouteError: .*one at a time',
        second=True,
    ),
)


def fault_jobs(clients: Sequence[str], seed: int) -> list[tuple[int, str, int]]:
    """Return the arguments of `provoked` for each fault and each program that it can happen to."""
    return [
        (index, client, seed)
        for index, fault in enumerate(FAULTS)
        for client in clients
        if client in fault.clients
    ]


def provoked(index: int, client: str, seed: int) -> FaultReport:
    """
    Let a fault happen to a program, and observe the arm and the next motion.

    Raises WorldError where a server does not start, ConfigError where something is not installed.
    """
    fault = FAULTS[index]
    with ExitStack() as stack:
        rig = _Rig(stack, fault, client, seed)
        ended = rig.interrupted()
        at_rest = _rests(rig.server)
        fault.after(rig.server)
        again = rig.again()
        return FaultReport(
            fault=fault.name,
            server=fault.server,
            client=client,
            ended=ended,
            reflexes=() if rig.client is None else tuple(rig.client.reflexes),
            at_rest=at_rest,
            again=again,
            unexpected=_unexpected(fault, ended, again, at_rest) if client == BBLLM else '',
        )


class _Rig:
    """A server and a program; each fault has its own."""

    def __init__(self, stack: ExitStack, fault: Fault, client: str, seed: int) -> None:
        self._stack, self._fault, self._name, self._seed = stack, fault, client, seed
        self.server: Server = (
            FrankaSimServer(stack, seed)
            if fault.server == FRANKA_SIM
            else TableServer(stack, tall=fault.tall)
        )
        self.client: Client | None = None

    def interrupted(self) -> str:
        """Return how the motion ends in which the fault happens, or the connection before it."""
        fault, server = self._fault, self.server
        fault.before(server)
        try:
            self.client = client = self._connected()
        except BbllmError as error:
            return f'{type(error).__name__}: {error}'
        if fault.second:
            try:
                self._connected()
            except BbllmError as error:
                return f'{type(error).__name__}: {error}'
            return 'It was connected.'
        client.begin()
        if fault.strike is not None:
            end_s = time.monotonic() + WAIT_S
            while client.ended is None and server.fastest_rad_s() < MOVES_RAD_S:
                if time.monotonic() > end_s:
                    return f'No motion began within {WAIT_S:g} s.'
                time.sleep(POLL_S)
            fault.strike(server, client)
        end_s = time.monotonic() + WAIT_S
        while client.ended is None:
            if time.monotonic() > end_s:
                return f'It did not end within {WAIT_S:g} s.'
            time.sleep(POLL_S)
        return client.ended

    def again(self) -> str:
        """Return how the next motion ends, of a new program where none was connected."""
        try:
            self.client = self.client or self._connected()
            return self.client.again()
        except BbllmError as error:
            return f'{type(error).__name__}: {error}'

    def _connected(self) -> Client:
        with ExitStack() as stack:  # what was opened for a program that fails is closed
            client = self._opened(stack)
            self._stack.enter_context(stack.pop_all())
        return client

    def _opened(self, stack: ExitStack) -> Client:
        fault, address = self._fault, self.server.address
        if self._name == FRANKY:
            return FrankyClient(stack, address, fault.franky_does)
        if fault.whole:
            return ProgramClient(stack, address, load_scene(SCENE), TASK)
        if fault.server == TABLE:
            scene, call = load_scene(SCENE), PICK
        else:
            scene, name, spot, yaw_deg = random_pick_place(self._seed)
            call = pick_place_calls(name, spot, yaw_deg)[0]
        client = TaskClient(stack, address, scene, call)
        client.on_question = lambda: fault.after(self.server)
        return client


def _rests(server: Server) -> bool:
    """Return whether the arm comes to rest, by the physics of the server."""
    end_s, readings = time.monotonic() + REST_S, 0
    while readings < REST_READINGS and time.monotonic() < end_s:
        readings = readings + 1 if server.fastest_rad_s() < RESTS_RAD_S else 0
        time.sleep(POLL_S)
    return readings == REST_READINGS


def _unexpected(fault: Fault, ended: str, again: str, at_rest: bool) -> str:
    found = [] if re.search(fault.ended, ended, re.DOTALL) else [f'ended without {fault.ended!r}']
    found += [] if at_rest else ['the arm moved on']
    found += [] if re.search(DONE, again) else ['the next motion failed']
    return '; '.join(found)
