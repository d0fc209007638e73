"""The table as a rehearsal predicts it, drawn beside the journal while the episode runs."""

from pathlib import Path

from bbllm.core.events import Event, SceneRecorded
from bbllm.core.paths import predicted_path, write_whole
from bbllm.core.types import Scene
from bbllm_viewer.viz.png import to_png
from bbllm_viewer.viz.sheet import draw_change


class PredictedPicture:
    """
    An `EventSink` that draws each predicted scene over the last; colours mark what will move.

    A picture that cannot be written is left out: it is for people who are asked to approve a plan.
    """

    def __init__(self, journal: Path) -> None:
        self._path = predicted_path(journal)
        self._before: Scene | None = None

    def __call__(self, event: Event) -> None:
        match event.data:
            case SceneRecorded('before', scene):
                self._before = scene
            case SceneRecorded('predicted', scene):
                try:
                    write_whole(self._path, to_png(draw_change(scene, self._before), scale=2.0))
                except OSError:
                    self._path.unlink(missing_ok=True)
