"""Every world around another one forwards what that can do, or names what it drops and why."""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest

from bbllm.api.approved_world import ApprovedWorld
from bbllm.core.cancel import CancelToken
from bbllm.core.episode import EpisodeRun, GuardedWorld
from bbllm.core.events import PlanRehearsed
from bbllm.core.protocols import NO_FEATURES, Rehearsal, WorldFeatures, features_of
from bbllm.core.types import Fact, SkillCall
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.planners.common.belief.belief_world import BelievedRehearsal, EstimatingWorld
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld
from bbllm_bench.benchmarks.injection.cases import draw_cases
from bbllm_bench.benchmarks.injection.table import CaseWorld
from bbllm_bench.runner.play_tabletop import _ComparedWorld
from tests.core.scripted_episodes import TASK, OneCubeWorld

FEATURES = [item.name for item in fields(WorldFeatures)]


class AbleWorld(OneCubeWorld):
    """A world of one cube that can do everything, and keeps what was asked of it."""

    is_intact = True
    result = PlanRehearsed(samples=1, succeeded=1, calls=0)

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[object] = []

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(
            picture=lambda: cast(Any, self.asked.append('picture')),
            settle=lambda: self.asked.append('settle'),
            expect=self.asked.append,
            rehearse=self._rehearse,
            approves_plans=lambda: False,
            ask_person=self.asked.append,
            copy=AbleWorld,
        )

    def _rehearse(self, cancel: CancelToken | None) -> Rehearsal:
        self.asked.append('rehearse')
        return self

    def close(self) -> None:
        self.asked.append('close')


def guarded(world: AbleWorld) -> GuardedWorld:
    return GuardedWorld(EpisodeRun(TASK, planner='p', brain='b', body='c', stream=True), world)


WRAPPERS: dict[str, Callable[[AbleWorld], WorldWrapper]] = {
    'ApprovedWorld': lambda world: ApprovedWorld(world, lambda request: True, TASK, 'b'),
    'BelievedRehearsal': lambda world: BelievedRehearsal(world, OpenState()),
    'CaseWorld': lambda world: CaseWorld(world, draw_cases(1, seed=3011)[0]),
    'EstimatingWorld': lambda world: EstimatingWorld(world),
    'GuardedWorld': guarded,
    'RehearsedWorld': lambda world: RehearsedWorld(world, RehearsalSettings()),
    '_ComparedWorld': lambda world: _ComparedWorld(world, cast(Any, None)),
}


def test_each_class_of_them_is_tried_here(repository: Path) -> None:
    files = repository.glob('src/**/*.py')

    classes = re.compile(r'class (\w+)\(WorldWrapper')
    found = {name for file in files for name in classes.findall(file.read_text())}

    assert found == WRAPPERS.keys()


@pytest.mark.parametrize('name', WRAPPERS)
def test_features_are_forwarded_or_dropped_with_a_reason(name: str) -> None:
    wrapper = WRAPPERS[name](AbleWorld())

    missing = {feature for feature in FEATURES if getattr(wrapper.features, feature) is None}

    assert missing == wrapper.DROPPED.keys()
    assert all(wrapper.DROPPED.values())


@pytest.mark.parametrize('name', sorted(WRAPPERS.keys() - {'RehearsedWorld', 'ApprovedWorld'}))
def test_no_wrapper_has_a_feature_that_its_world_does_not_have(name: str) -> None:
    wrapper = WRAPPERS[name](cast(Any, OneCubeWorld()))

    assert wrapper.features == NO_FEATURES


def test_the_world_is_asked_for_what_its_wrapper_offers() -> None:
    world = AbleWorld()
    features = features_of(EstimatingWorld(guarded(world)))
    expected: Sequence[SkillCall] = [SkillCall('pick', ('red_cube',))]

    assert features.picture and features.settle and features.expect and features.rehearse
    features.picture()
    features.settle()
    features.expect(expected)
    features.rehearse(None).close()

    assert world.asked == ['picture', 'settle', expected, 'rehearse', 'close']


def test_scenes_of_a_rehearsal_have_the_beliefs_with_which_it_began() -> None:
    state = OpenState({'red_cube': ('heavy',)})

    scene = BelievedRehearsal(AbleWorld(), state).observe()

    assert scene.facts == (Fact('red_cube', 'is', 'heavy', estimated=True),)
