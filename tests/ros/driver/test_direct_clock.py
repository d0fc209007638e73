"""The clock by which `franka_direct` stamps what the robot reports."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from bbllm.api.config import ArmAddress

pytest.importorskip('franky')
pytestmark = pytest.mark.ros


class Robot:
    """What the loop reads of a robot; `steps` are the robot's times after each tick [s]."""

    lost = busy = False

    def __init__(self, *steps: float) -> None:
        self.steps = list(steps)
        self.reading = SimpleNamespace(robot_s=100.0, host_s=time.monotonic())

    def tick(self) -> bool:
        if not self.steps:
            return False
        step_s = self.steps.pop(0)
        self.reading = SimpleNamespace(robot_s=step_s, host_s=self.reading.host_s + 1.0)
        return True

    def close(self) -> None:
        pass


def stamps_of(robot: Robot, monkeypatch: pytest.MonkeyPatch, *, simulated: bool) -> Any:
    """Return the loop, and its stamps of all readings, the first one included."""
    from bbllm_ros.direct import loop as module

    monkeypatch.setattr(module, 'LibfrankaRobot', lambda *_: robot)
    address = ArmAddress(ip='127.0.0.1' if simulated else '192.0.2.7', simulated_robot=simulated)
    loop = module.FrankaLoop(address, hand=False, log=print)
    stamps = [loop.now_s]
    loop.on_advance = stamps.append
    while robot.steps:
        loop.step()
    return loop, stamps


def test_stamps_of_a_slow_simulation_are_of_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, stamps = stamps_of(Robot(100.25, 100.5), monkeypatch, simulated=True)

    assert [stamp - stamps[0] for stamp in stamps] == pytest.approx([0.0, 0.25, 0.5], abs=1e-5)
    assert loop.to_robot_s(loop.now_s + 2.0) == pytest.approx(102.5, abs=1e-5)


def test_stamps_of_a_simulation_that_starts_anew_do_not_run_backwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, stamps = stamps_of(Robot(100.25, 0.0, 0.25), monkeypatch, simulated=True)

    assert [stamp - stamps[0] for stamp in stamps] == pytest.approx(
        [0.0, 0.25, 0.25, 0.5], abs=1e-5
    )
    assert loop.to_robot_s(loop.now_s) == pytest.approx(0.25, abs=1e-5)


def test_stamps_of_a_robot_are_of_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, stamps = stamps_of(Robot(100.9, 101.8), monkeypatch, simulated=False)

    assert [stamp - stamps[0] for stamp in stamps] == pytest.approx([0.0, 1.0, 2.0], abs=1e-5)
    assert loop.to_robot_s(loop.now_s + 2.0) == pytest.approx(103.8, abs=1e-5)
