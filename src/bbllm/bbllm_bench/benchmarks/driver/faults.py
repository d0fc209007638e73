"""Faults between libfranka and the robot, each in the middle of a pick, and what came of them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from bbllm.arm.driver import RobotMode
from bbllm.arm.envelope import load_envelope
from bbllm.core.errors import BbllmError, WorldError
from bbllm.core.types import SkillCall
from bbllm_bench.benchmarks.arm.trials import pick_place_calls, random_pick_place
from bbllm_bench.benchmarks.driver.lossy_link import Losses, LossyLink
from bbllm_bench.benchmarks.driver.trials import BASE, WatchedDriver
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.messages import IGNORE
from bbllm_franka.simulated_server import franka_sim
from bbllm_franka.table import FrankaTable

WAIT_S = 60.0
"""How long a motion may take to begin, and a robot to be reached again [s]."""
POLL_S = 0.02
OBJECT_M = 0.04
SERVER, PROXY = '127.0.41.1', '127.0.41.2'
"""Loopback addresses of the server, and of the proxy in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultReport:
    """What came of a fault."""

    fault: str
    ended: str
    """How the call ended in which it happened, in the words that a planner gets."""
    reflexes: tuple[str, ...]
    again: str
    """How the next call ended, once the fault was over."""


class Rig:
    """A server, the proxy before it, and a world; each fault has one of its own."""

    def __init__(self, stack: ExitStack, seed: int) -> None:
        self._servers = stack.enter_context(ExitStack())
        self.serve()
        self.link = stack.enter_context(LossyLink(SERVER, PROXY, seed=seed))
        scene, self.name, self.spot, self.yaw_deg = random_pick_place(seed)
        self.driver = WatchedDriver(PROXY)
        envelope = load_envelope('safety')
        self.world = stack.enter_context(closing(FrankaTable(self.driver, scene, envelope)))
        self.world.execute(BASE)

    def serve(self) -> None:
        """Start the server."""
        self.server: subprocess.Popen[bytes] = self._servers.enter_context(
            franka_sim(SERVER, object_width_m=OBJECT_M)
        )

    def end_server(self) -> None:
        """Kill the server, as a power cut does, and start it again."""
        self.server.kill()
        self.server.wait()
        self._servers.close()
        self.link.cut()
        self.serve()

    def lose(self, losses: Losses) -> None:
        self.link.losses = losses

    def kill_client(self) -> None:
        os.kill(self.driver.control_pid, signal.SIGKILL)

    def wait_for_motion(self, ended: Sequence[str]) -> None:
        """Wait until the arm moves, or the call has ended before."""
        end_s = time.monotonic() + WAIT_S
        while not ended and self.driver.condition().mode is not RobotMode.MOVE:
            if time.monotonic() > end_s:
                raise WorldError(f'No motion began within {WAIT_S:g} s.')
            time.sleep(POLL_S)


FAULTS: dict[str, Callable[[Rig], None]] = {
    '1 % of the packets lost': lambda rig: rig.lose(Losses(share=0.01)),
    'five in a row, every 200': lambda rig: rig.lose(Losses(share=0.005, burst=5)),
    '25 in a row, every 300': lambda rig: rig.lose(Losses(share=0.003, burst=25)),
    'each packet 2 to 4 ms late': lambda rig: rig.lose(Losses(delay_s=0.002, jitter_s=0.002)),
    'process of the 1 kHz loop killed': Rig.kill_client,
    'server killed and started again': Rig.end_server,
}
"""Each in the middle of a motion."""


def in_motion(fault: str, seed: int) -> FaultReport:
    """Let a fault happen in the first motion of a pick; once it is over, go back to base."""
    with ExitStack() as stack:
        rig = Rig(stack, seed)
        call = pick_place_calls(rig.name, rig.spot, rig.yaw_deg)[0]
        ended: list[str] = []
        thread = threading.Thread(target=lambda: ended.append(_words(rig, call)), daemon=True)
        thread.start()
        rig.wait_for_motion(ended)
        FAULTS[fault](rig)
        thread.join(WAIT_S)
        rig.link.losses = Losses()
        if not ended:
            raise WorldError(f'The call did not end within {WAIT_S:g} s of the fault "{fault}".')
        rig.world.observe()  # connects anew where the connection broke
        return FaultReport(
            fault=fault,
            ended=ended[0],
            reflexes=tuple(dict.fromkeys(rig.driver.reflexes)),
            again=_words(rig, BASE),
        )


def second_client(seed: int) -> FaultReport:
    """Let a client connect while another is there."""
    with ExitStack() as stack:
        rig = Rig(stack, seed)
        try:
            FrankaDriver(PROXY, realtime=IGNORE).close()
            ended = 'It was connected.'
        except BbllmError as error:
            ended = str(error)
        again = _words(rig, BASE)
    return FaultReport(fault='a second client', ended=ended, reflexes=(), again=again)


def fault_reports(seed: int) -> list[Callable[[], FaultReport]]:
    """Return what provokes each fault."""
    return [*(partial(in_motion, fault, seed) for fault in FAULTS), partial(second_client, seed)]


def _words(rig: Rig, call: SkillCall) -> str:
    try:
        rig.driver.reconnect()
        outcome = rig.world.execute(call)
    except BbllmError as error:
        return f'{type(error).__name__}: {error}'
    return 'done' if outcome.succeeded else f'{outcome.code.name}: {outcome.message}'
