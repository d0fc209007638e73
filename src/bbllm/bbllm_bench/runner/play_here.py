"""Where the cases of a suite are played: on a simulated table, in a household, by the nodes."""

from dataclasses import replace
from typing import Protocol, cast

from bbllm.core.constants import NO_EXPERIENCE
from bbllm.core.errors import ConfigError
from bbllm.core.protocols import EventSink
from bbllm.llm.models.factory import Models, changes_in
from bbllm.scene.sources import NO_TROUBLE, TRUTH
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_setup import Alone, PlayWith, play_alone
from bbllm_bench.suites.benchmark import (
    Benchmark,
    BenchmarkStart,
    is_benchmark,
    load_benchmark,
)
from bbllm_bench.suites.case import HouseStart
from bbllm_bench.suites.suite import Suite

HOUSEHOLD = 'household'
TABLETOP = 'tabletop'


class PlayedBenchmark(Benchmark, Protocol):
    """A benchmark of others with what plays it."""

    def play_with(
        self, job: EpisodeSpec, models: Models, sink: EventSink, around: Alone
    ) -> EpisodeResult:
        """Play an episode to its end and judge it by its own check; see `play_tabletop`."""
        ...


def play(job: EpisodeSpec) -> EpisodeRecord:
    """Play an episode in this process, in the world of its case; see `log.episodes.Play`."""
    return play_alone(job, play_with)


def play_with(job: EpisodeSpec, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """Play an episode to its end and judge it; see `play_tabletop.play_with`."""
    # None needs what the others import, which takes a second.
    play_with: PlayWith
    if isinstance(job.case.scene, BenchmarkStart):
        play_with = cast(PlayedBenchmark, load_benchmark(job.case.scene.benchmark)).play_with
    elif isinstance(job.case.scene, HouseStart):
        from bbllm_bench.runner.play_household import play_with
    else:
        from bbllm_bench.runner.play_tabletop import play_with
    result = play_with(job, models, sink, around)
    return replace(result, changed_prompts=changes_in(models))


def domain_of(suite: Suite) -> str:
    """Return the kind of world that a suite's scenes are of, `tabletop` or `household`."""
    return HOUSEHOLD if suite.houses else TABLETOP


def world_of(suite: Suite, wanted: str) -> str:
    """
    Return where a suite is played: in the world *wanted*, or else in its own.

    Raises:
        ConfigError: It cannot be played there; the message names where it can.
    """
    if suite.benchmark:
        if wanted:
            raise ConfigError(
                f'The suite {suite.name} is played in the world of its benchmark, '
                f'{suite.benchmark}, and in no world {wanted!r}; leave --world out.'
            )
        return suite.benchmark
    if suite.houses:
        if wanted not in ('', HOUSEHOLD):
            raise ConfigError(
                f'The suite {suite.name} is played in houses, which are no world {wanted!r}; '
                f'leave --world out, or use --world {HOUSEHOLD}.'
            )
        return HOUSEHOLD
    if wanted == HOUSEHOLD:
        raise ConfigError(
            f'The suite {suite.name} is played on tables; leave --world out, or use --world '
            f'{TABLETOP} or --world ros.'
        )
    return wanted or TABLETOP


def check_sources(world: str, sources: str, trouble: str) -> None:
    """Raise ConfigError where pictures cannot be had in a world, or trouble without pictures."""
    if sources == TRUTH and trouble != NO_TROUBLE:
        raise ConfigError(
            f'--trouble {trouble} is for pictures: add --sources camera, or leave it out.'
        )
    if sources != TRUTH and is_benchmark(world):
        raise ConfigError(
            f'Scenes of the benchmark {world} come from the state of its simulator only: leave '
            f'--sources {sources} out.'
        )
    if sources != TRUTH and world != TABLETOP:
        raise ConfigError(
            f'--sources {sources} is for simulated tables in worker processes, and the suite is '
            f'played in the world {world}: leave --sources out, or choose a suite of tables and '
            f'--world {TABLETOP}.'
        )


def check_rehearsal(world: str, rehearse: int) -> None:
    """Raise ConfigError where plans cannot be rehearsed in a world."""
    if rehearse and world != TABLETOP:
        raise ConfigError(
            f'--rehearse is for simulated tables in worker processes, and the suite is played in '
            f'the world {world}: leave --rehearse out, or choose a suite of tables and --world '
            f'{TABLETOP}.'
        )


def check_experienced(world: str, experience: str) -> None:
    """Raise ConfigError where cases cannot be shown what worked before."""
    if experience != NO_EXPERIENCE and world == 'ros':
        raise ConfigError(
            '--experience is for worker processes, which keep it apart from the cases it was made '
            'from: leave --world ros out.'
        )
