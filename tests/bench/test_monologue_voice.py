"""`expert` in Inner Monologue, also where the window has forgotten what was done."""

from __future__ import annotations

import dataclasses

import pytest
from household_cases import TASKS, case_of
from test_household_expert import job_of

from bbllm.bench.household_expert import inner_monologue_voice
from bbllm.bench.household_expert.replay import Tried
from bbllm.bench.household_expert.told import Told
from bbllm.bench.household_expert.told_scene import Believing, Moved
from bbllm.bench.runner.play_household import play
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.core.types import Scene, SkillCall
from bbllm.planners.common.observation_text import observation_text
from bbllm.planners.common.short_names import ShortNames
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.visibility import FULL, Visibility
from bbllm.worlds.household.world import HouseholdWorld


class Case:
    """A case, as `expert` is told it."""

    def __init__(self, task: str):
        self._case = case_of(task)

    def case(self) -> tuple[Household, HouseholdGoal]:
        goal = self._case.house_goal
        assert isinstance(goal, HouseholdGoal)
        return self._case.house.household(), goal

    def visibility(self) -> Visibility:
        return FULL


TO_THE_FRIDGE = (('walk', 'salmon'), ('grab', 'salmon'), ('walk', 'fridge'))


def begun(told: Told) -> tuple[HouseholdWorld, ShortNames, dict[str, str]]:
    """The world of a case, what a planner calls things, and the first thing of each class."""
    household, _ = told.case()
    world = HouseholdWorld(household.graph)
    names = ShortNames()
    names.see(world.observe())
    return (
        world,
        names,
        {name.rpartition('_')[0]: name for name in reversed(world.observe().names)},
    )


def do(world: HouseholdWorld, thing: dict[str, str], *calls: tuple[str, ...]) -> None:
    """Make calls, in words of classes; all have to succeed."""
    for skill, *words in calls:
        outcome = world.execute(SkillCall(skill, tuple(thing[word] for word in words)))
        assert outcome.succeeded, outcome.message


@pytest.mark.parametrize('visibility', ['full', 'rooms_seen'])
@pytest.mark.parametrize('task', TASKS)
def test_a_task_is_done_by_what_the_newest_five_steps_tell(
    task: str, visibility: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It plans one call at a time, so that every prompt has to tell enough.
    monkeypatch.setattr(inner_monologue_voice, 'AHEAD', 1)
    job = job_of('inner_monologue:window=5', task, trial=2)
    house = job.case.house.model_copy(update={'visibility': visibility})
    case = dataclasses.replace(job.case, scene=house)

    result = play(dataclasses.replace(job, case=case)).result

    assert result.passed, result.reason


@pytest.mark.parametrize(
    'tried', [Tried('placein(salmon1, fridge1)', True), Tried('open(fridge1)', False)]
)
def test_what_a_step_could_not_have_done_otherwise_tells_of_a_door_that_is_forgotten(
    tried: Tried,
) -> None:
    told: Told = Case('put_salmon_in_the_fridge')
    world, names, thing = begun(told)
    do(world, thing, *TO_THE_FRIDGE)
    moved = Moved(told, observation_text(world.observe(), names))

    def after(history: list[Tried]) -> Scene:
        return Believing(moved, history, moved.names).world.observe()

    assert after([]).has(thing['fridge'], 'is', 'closed')  # as at the start, so it is believed
    assert after([tried]).has(thing['fridge'], 'is', 'open')
    inside = after([tried]).has(thing['salmon'], 'inside', thing['fridge'])
    assert inside is tried.succeeded


def test_things_are_where_the_observation_tells_and_nothing_else_is_known() -> None:
    told: Told = Case('put_salmon_in_the_fridge')
    household, _ = told.case()
    world, names, thing = begun(told)
    more = (('open', 'fridge'), ('putin', 'salmon', 'fridge'), ('walk', 'cereal'))
    do(world, thing, *TO_THE_FRIDGE, *more, ('grab', 'cereal'))

    moved = Moved(told, observation_text(world.observe(), names))
    copy, _ = moved.case()
    seen = HouseholdWorld(copy.graph).observe()

    assert seen.has(thing['salmon'], 'inside', thing['fridge'])
    assert seen.held == thing['cereal']
    me = next(name for name in seen.names if name.startswith('character_'))
    assert seen.has(me, 'in_room', thing['kitchen'])
    # No observation tells of states.
    assert world.observe().has(thing['fridge'], 'is', 'open')
    assert seen.has(thing['fridge'], 'is', 'closed')
    assert told.case()[0].graph == household.graph  # each case is a new one
