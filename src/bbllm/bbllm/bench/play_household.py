"""Plays one episode in a household of symbols, in this process, and judges the household."""

from __future__ import annotations

from bbllm.bench.checkers.household import judge_household
from bbllm.bench.episode_models import open_models
from bbllm.bench.house_goals import FinalStateGoal
from bbllm.bench.play_tabletop import Alone, JournalText, noise_seed, settings_of
from bbllm.bench.playing import Job, Played
from bbllm.bench.results import EpisodeResult
from bbllm.bench.scoring import score
from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import EventSink
from bbllm.core.registry import find_planner
from bbllm.core.tasks import make_task
from bbllm.llm.config import Models
from bbllm.planners.assembly import build_planner
from bbllm.planners.bodies import MappingMethod, body_name
from bbllm.worlds.household.published_states import PublishedStates
from bbllm.worlds.household.visibility import visibility_of
from bbllm.worlds.household.world import HouseholdWorld

WORLD = 'household'
"""What settings, journals and `--world` call it."""


def play(job: Job) -> Played:
    """Play an episode in a household of its own; see `playing.Play`."""
    with open_models(job) as given:
        journal = JournalText()
        result = play_with(job, given.models, journal, Alone())
        return Played(result=result, journal=journal.text, recording=given.recording())


def play_with(job: Job, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """
    Play an episode to its end and judge it.

    Args:
        job: What to play; its case has a house.
        models: Who answers, whatever the job's setup names.
        sink: Told every event.
        around: What else goes on in this process; a step takes no time, so no turns are taken.
    """
    make_planner = find_planner(job.setup.planner)
    mapping = MappingMethod(job.setup.mapping)
    house, goal = job.case.house, job.case.house_goal
    world = HouseholdWorld(
        house.build(),
        mode=house.mode,
        visibility=visibility_of(house.visibility),
        # Who scores as the published program does counts what that counts.
        derived=PublishedStates() if isinstance(goal, FinalStateGoal) else None,
        seed=noise_seed(job.case),
    )
    run = EpisodeRun(
        make_task(job.case.instruction, job.key.name),
        planner=job.setup.planner,
        brain=models.brain.name,
        body=body_name(mapping, models),
        limits=job.setup.limits,
        sinks=[sink],
        settings={
            **settings_of(job, WORLD),
            'mode': house.mode.value,
            'visibility': house.visibility,
            **around.settings,
        },
    )
    before = world.observe()
    start = judge_household(goal, world.graph, world.derived.now)
    with around.hearing(run):
        planner = build_planner(run, make_planner, models, job.key.k, mapping)
        episode = run.execute(planner, world)
    end = judge_household(goal, world.graph, world.derived.now, seat=world.seat)
    return score(
        job,
        episode,
        before=before,
        after=world.observe(),
        robot_s=world.time_s,
        unsafe=None,  # nothing here can be unsafe
        judged=(start, end),
    )
