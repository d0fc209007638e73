"""
A program as users of franky write it, for `bbllm bench driver --fci ... --client franky`.

    python -m bbllm_bench.benchmarks.driver.franky_program ADDRESS

It connects, prints why not or '', and then does what each line asks for: `move` turns joint 1,
`reach` goes down to the red cube of the scene tabletop, `grasp` closes the hand, `again` recovers
from errors and turns joint 1 back. For each it prints what franky raised, or `done`, as a line of
JSON. franky is used as its README shows; nothing is caught that a program would not catch.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

TURN_RAD = 0.6
SPEED = 0.06
"""Share of the robot's limits: the turn takes several seconds."""
ABOVE, CUBE = (0.45, 0.16, 0.25), (0.45, 0.16, 0.02)
"""Above the red cube, and at it [m]."""
WIDTH_M, SPEED_M_S, FORCE_N = 0.04, 0.05, 20.0


class Program:
    """The robot and hand of one address."""

    def __init__(self, address: str) -> None:
        self._franky: Any = import_module('franky')  # the extra `franka`
        self._address = address
        self._turned = TURN_RAD
        self._connect()

    def _connect(self) -> None:
        franky = self._franky
        self._robot = franky.Robot(self._address, realtime_config=franky.RealtimeConfig.Ignore)
        self._robot.relative_dynamics_factor = SPEED

    def move(self) -> str:
        joints = list(self._robot.state.q)
        joints[0] += self._turned
        self._turned = -self._turned
        self._robot.move(self._franky.JointMotion(joints))
        return 'done'

    def reach(self) -> str:
        down = self._robot.state.O_T_EE.quaternion
        for place in (ABOVE, CUBE):
            pose = self._franky.Affine(list(place), down)
            self._robot.move(self._franky.CartesianMotion(pose))
        return 'done'

    def grasp(self) -> str:
        hand = self._franky.Gripper(self._address)
        held = hand.grasp(WIDTH_M, SPEED_M_S, FORCE_N, epsilon_inner=0.01, epsilon_outer=0.01)
        return 'done' if held else 'grasp returned False'

    def again(self) -> str:
        """Recover and move; where the connection is gone, by a new Robot."""
        try:
            self._robot.recover_from_errors()
            return self.move()
        except self._franky.NetworkException as error:
            self._connect()
            self._robot.recover_from_errors()
            return f'{_words(error)}; with a new Robot: {self.move()}'


def _words(error: Exception) -> str:
    return f'{type(error).__name__}: {" ".join(str(error).split())}'


def main() -> None:
    program: Program | None = None

    def connect() -> str:
        nonlocal program
        program = Program(sys.argv[1])
        return ''

    def answer(what: Callable[[], str]) -> None:
        try:
            text = what()
        except Exception as error:  # franky's have no base of their own
            text = _words(error)
        print(json.dumps(text), flush=True)

    answer(connect)
    for line in sys.stdin:
        if program is not None:
            answer(getattr(program, line.strip()))


if __name__ == '__main__':
    main()
