"""The two scenes of an episode's journal, read without parsing the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bbllm.core.events import EventKind, SceneRecorded
from bbllm.core.journal import read_line
from bbllm.core.types import Scene

_MARK = f'"{EventKind.SCENE.value}"'.encode()


@dataclass(frozen=True, slots=True)
class Scenes:
    """What a journal shows of the table; None where it does not."""

    before: Scene | None = None
    after: Scene | None = None


def read_scenes(path: Path | None) -> Scenes:
    """
    Read the scenes of a journal.

    Pictures only gain by them, so a journal that is gone or damaged gives none and no error.
    """
    if path is None:
        return Scenes()
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return Scenes()
    found: dict[str, Scene] = {}
    for line in lines:
        # The kind stands at the beginning of a line; most lines are something else.
        if _MARK in line[:80]:
            _take(line, found)
    return Scenes(found.get('before'), found.get('after'))


def _take(line: bytes, found: dict[str, Scene]) -> None:
    try:
        recorded = read_line(line.decode()).data
        if isinstance(recorded, SceneRecorded):
            found[recorded.moment] = recorded.scene
    except ValueError:
        return  # cut off by a crash, or of another version: the picture is drawn without it
