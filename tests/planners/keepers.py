"""A keeper of the open state that is watched, and what it hears."""

import time
from collections.abc import Callable

from bbllm.core.events import Event
from bbllm.core.observation import Observed
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.planners.common.belief.belief_world import StateKeeper
from bbllm.planners.common.belief.interaction_history import InteractionHistory
from bbllm.planners.common.belief.open_state import OpenStateEstimator
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.domains.scene_graph import is_open
from tests.planners.made_scenes import made_scene

SCENE = made_scene('red_cube blue_cube', 'red_cube is clear', domain='tabletop')
PATIENCE_S = 20.0


def outcome(name: str, code: Code = Code.NONE) -> Event:
    status = Status.SUCCEEDED if code is Code.NONE else Status.FAILED
    ended = Outcome(call=SkillCall('pick', (name,)), status=status, code=code)
    return Event(0.0, ended)


def felt(force_n: float) -> Event:
    seen = Observed(force_n=(0.0, 0.0, force_n), fingers_m=(0.02, 0.02))
    return Event(0.0, seen)


class Kept:
    """A keeper with what it has told of trouble and faults."""

    def __init__(
        self, make_estimator: Callable[[InteractionHistory], OpenStateEstimator] = RuleEstimator
    ):
        self.trouble: list[str] = []
        self.faults: list[str] = []
        self.keeper = StateKeeper(
            make_estimator,
            InteractionHistory(),
            on_trouble=self.trouble.append,
            on_fault=self.faults.append,
        )
        self.keeper.start()

    def facts(self, scene: Scene = SCENE) -> list[str]:
        return [str(fact) for fact in self.keeper.believing(scene).facts if is_open(fact)]

    def wait_for(self, *facts: str, scene: Callable[[], Scene] = lambda: SCENE) -> None:
        until(
            lambda: self.facts(scene()) == list(facts),
            lambda: f'{facts}, but {self.facts(scene())}',
        )


def until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, f'there was no {what()}'
        time.sleep(0.005)
