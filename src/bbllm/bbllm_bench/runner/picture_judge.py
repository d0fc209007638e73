"""What an episode by pictures has besides: the errors of its scenes, and a judge by them."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from bbllm.core.events import Episode
from bbllm.core.types import Scene
from bbllm.scene.sources import TRUTH
from bbllm.sim.driver import SimDriver
from bbllm.worlds.tabletop.object_source import CameraSource, ObjectSource
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.scorers.pictures import PictureErrors, bind_names, renamed
from bbllm_bench.scorers.scoring import judge_by_pictures


def source_of(job: EpisodeSpec) -> Callable[[SimDriver], ObjectSource] | None:
    """Return what makes the source of objects for an episode; None for the simulator's state."""
    if job.config.sources == TRUTH:
        return None
    # OpenCV and the cameras are for those alone who go by pictures.
    from bbllm_vision.simulated_table import camera_source

    case = job.case
    return camera_source(case.table, trouble=job.config.trouble, seed=case.noise_seed)


class PictureJudge:
    """
    Watches an episode: compares its scenes with the truth, and judges its end by pictures.

    In an episode whose scenes are the truth it does nothing.
    """

    def __init__(self, table: TabletopWorld) -> None:
        self._table = table
        self._source = table.source if isinstance(table.source, CameraSource) else None
        self._errors = PictureErrors()
        self._first: Scene | None = None

    @property
    def names(self) -> Mapping[str, str]:
        """What the scenes call objects that look alike, where that is not their name."""
        return self._errors.names

    def begin(self, true: Scene, seen: Scene | None) -> Scene:
        """Take in the table at the start; return its truth with the names of the scene."""
        if self._source is not None and seen is not None:
            self._first, self._errors.names = seen, bind_names(seen, true)
        return self.with_names(true)

    def with_names(self, true: Scene) -> Scene:
        """Return the truth with the names that the scenes have."""
        return renamed(true, self.names)

    def observed(self, seen: Scene) -> None:
        """Take in a scene that the planner has got just now."""
        if self._source is not None:
            self._errors.add(seen, self._table.truth())

    def add_to(
        self, result: EpisodeResult, job: EpisodeSpec, episode: Episode, last: Scene | None
    ) -> EpisodeResult:
        """Return a result with the figures, given the scene at the end if there is one."""
        if self._source is None:
            return result
        names, count = self.names, self._source.count
        score = judge_by_pictures(job.case, episode, first=self._first, last=last, names=names)
        figures = self._errors.result(score, pictures=count.pictures, wall_s=count.wall_s)
        return replace(result, by_pictures=figures)
