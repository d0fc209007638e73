"""
Catalogues: the properties of objects that a detector only names.

A catalogue is `config/catalogues/<name>.yaml`:

    description: One line for people.
    objects:
      - {name: red_cube, kind: cube, size: 0.04, color: red, class_id: cube_red}
      - name: can
        kind: cylinder
        size: [0.066, 0.115]                     # diameter, height
        tag: {frame: 'tag36h11:7', xyz: [0, 0, -0.0575]}

`tag` is the AprilTag on an object, and where the object's centre is in the frame of the tag.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, ValidationError, model_validator

from bbllm.core.errors import ConfigError
from bbllm.core.text import hidden_fault
from bbllm.core.types import Pose, SceneObject
from bbllm.files.yaml_files import FileRecord, YamlFiles, explain
from bbllm.scene.scene_file import DEFAULT_SIZE_M, Color, Coordinate, Length, Name
from bbllm.scene.transforms import multiply
from bbllm.skills.shapes import Vector

FILES = YamlFiles('catalogue', fields='objects, description', error=ConfigError)

Degrees = Annotated[float, Field(ge=-360, le=360, allow_inf_nan=False)]


class Tag(FileRecord):
    """The AprilTag on an object."""

    frame: Annotated[str, Field(min_length=1, max_length=100)]
    """Name of its tf frame, for example `tag36h11:7`."""
    xyz: tuple[Coordinate, Coordinate, Coordinate] = (0.0, 0.0, 0.0)
    """Centre of the object in the frame of the tag [m]."""
    rpy_deg: tuple[Degrees, Degrees, Degrees] = (0.0, 0.0, 0.0)
    """Turn of the object's axes in the frame of the tag: about x, then y, then z [deg]."""

    @property
    def T_tag_centre(self) -> Pose:  # noqa: N802
        """The object's centre and axes in the frame of the tag."""
        halves = [math.radians(angle) / 2 for angle in self.rpy_deg]
        x = (math.sin(halves[0]), 0.0, 0.0, math.cos(halves[0]))
        y = (0.0, math.sin(halves[1]), 0.0, math.cos(halves[1]))
        z = (0.0, 0.0, math.sin(halves[2]), math.cos(halves[2]))
        return Pose(position_m=self.xyz, quat_xyzw=multiply(z, multiply(y, x)))


def _in_one_line(class_id: str) -> str:
    if fault := hidden_fault(class_id):
        raise ValueError(f'the class_id has {fault}; visible characters in one line would do')
    return class_id


class CatalogueEntry(FileRecord):
    """One object that may be on the table."""

    name: Name
    kind: Literal['cube', 'cylinder', 'other']
    size: Length | tuple[Length, Length] | tuple[Length, Length, Length] = DEFAULT_SIZE_M
    """As in scene files [m]."""
    color: Color = 'grey'
    class_id: Annotated[str, Field(max_length=100), AfterValidator(_in_one_line)] = ''
    """What a detector calls it, also in the prompt of `vlm`; its name where empty."""
    tag: Tag | None = None

    @model_validator(mode='after')
    def _size_fits_the_kind(self) -> CatalogueEntry:
        wanted = 2 if self.kind == 'cylinder' else 3
        if isinstance(self.size, tuple) and len(self.size) != wanted:
            form = '[diameter, height]' if self.kind == 'cylinder' else '[x, y, z]'
            raise ValueError(f'the size of a {self.kind} is one length or {form}')
        return self

    @property
    def size_m(self) -> Vector:
        """Full extent along its own axes; a cylinder's axis is z [m]."""
        if not isinstance(self.size, tuple):
            return (self.size, self.size, self.size)
        return (self.size[0], self.size[-2], self.size[-1])


class Catalogue:
    """The objects that are known, by name, class and tag."""

    def __init__(self, entries: Iterable[CatalogueEntry] = ()):
        """Make a catalogue; raises ConfigError where a name, class or tag is there twice."""
        self.entries = tuple(entries)
        self._names = self._index('name', ((e.name, e) for e in self.entries))
        self._classes = self._index('class_id', ((e.class_id or e.name, e) for e in self.entries))
        tagged = ((e.tag.frame, e) for e in self.entries if e.tag is not None)
        self._tags = self._index('tag frame', tagged)

    @classmethod
    def of_objects(cls, objects: Iterable[SceneObject]) -> Catalogue:
        """Make a catalogue of the objects of a scene file."""
        return cls(
            CatalogueEntry.model_construct(
                name=item.name, kind=cast(Any, item.kind.value), size=item.size_m, color=item.color
            )
            for item in objects
        )

    def with_more(self, other: Catalogue) -> Catalogue:
        """Return a catalogue with the objects of another beside one's own, which win."""
        return Catalogue((*self.entries, *(e for e in other.entries if e.name not in self._names)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    @property
    def tag_frames(self) -> tuple[str, ...]:
        """The tf frames of all tags."""
        return tuple(self._tags)

    def named(self, name: str) -> CatalogueEntry | None:
        """Return the object of a name, or of the class that a detector calls it by."""
        return self._names.get(name) or self._classes.get(name)

    def tagged(self, frame: str) -> CatalogueEntry | None:
        """Return the object that bears a tag."""
        return self._tags.get(frame)

    @staticmethod
    def _index(
        what: str, pairs: Iterable[tuple[str, CatalogueEntry]]
    ) -> dict[str, CatalogueEntry]:
        found: dict[str, CatalogueEntry] = {}
        for key, entry in pairs:
            if key in found:
                raise ConfigError(
                    f'The catalogue has the {what} {key!r} twice: for {found[key].name} and for '
                    f'{entry.name}. Each must be the only one.'
                )
            found[key] = entry
        return found


class CatalogueFile(FileRecord):
    """The content of a catalogue file."""

    name: str = ''
    description: str = ''
    objects: Annotated[tuple[CatalogueEntry, ...], Field(min_length=1)]


def load_catalogue(name_or_path: str | Path) -> Catalogue:
    """
    Read a catalogue by its name, or by the path of a .yaml file.

    Raises UnknownNameError, or ConfigError where the file will not do.
    """
    content, path = FILES.read(name_or_path)
    data = FILES.parse(content, str(path))
    try:
        file = CatalogueFile.model_validate(data)
        return Catalogue(file.objects)
    except ValidationError as error:
        raise ConfigError(f'{path}: {explain(error, data)}') from error
    except ConfigError as error:
        raise ConfigError(f'{path}: {error}') from error
