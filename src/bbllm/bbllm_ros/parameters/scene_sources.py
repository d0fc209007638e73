"""Sources of a scene: the words of the parameter `sources`, and what they need."""

import re
from dataclasses import dataclass
from enum import StrEnum

from bbllm.core.constants import MAX_LENGTH
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.types import Kind, SceneObject
from bbllm.scene.catalogue import Catalogue, load_catalogue
from bbllm.scene.scene_file import list_scenes, load_scene

BARE_TABLE = 'empty_table'
"""The default scene file where cameras report the objects."""
_CAMERA = re.compile(r'/?[A-Za-z]\w*(/[A-Za-z]\w*)*', re.ASCII)


class SceneSource(StrEnum):
    """Where the poses of objects come from."""

    OBJECTS = 'objects'
    """The topic `objects`: everything there is, from mujoco_sim."""
    STATIC = 'static'
    """The scene file, and the hand that moves objects."""
    DETECTIONS = 'detections'
    """The topic `detections`."""
    VISION_MSGS = 'vision_msgs'
    """The topic `detections_3d`, vision_msgs/Detection3DArray."""
    APRILTAG = 'apriltag'
    """Tag frames on /tf."""
    CAMERA = 'camera'
    """The topic `detections`, from the node `perception` and the pictures of cameras."""


CAMERAS = frozenset(set(SceneSource) - {SceneSource.OBJECTS, SceneSource.STATIC})
"""Sources whose poses are in the frame of a camera."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """What was asked for, checked."""

    sources: frozenset[SceneSource]
    fixed: tuple[SceneObject, ...]
    """Furniture and places of the scene file."""
    things: tuple[SceneObject, ...]
    """The file's objects; empty unless `static` is a source."""
    catalogue: Catalogue
    """What objects are: the catalogue's, then the scene file's."""
    skills: tuple[str, ...] = ()
    """Those that the scene file offers beside those of every table."""

    @property
    def fixtures(self) -> tuple[SceneObject, ...]:
        """The furniture among what is fixed."""
        return tuple(item for item in self.fixed if item.kind is Kind.FIXTURE)


def parse_sources(text: str) -> frozenset[SceneSource]:
    """
    Read a list of sources, separated by commas.

    Raises UnknownNameError, or ConfigError where there is none, or two contradict each other.
    """
    known = {source.value: source for source in SceneSource}
    words = [word for word in text.replace(',', ' ').split() if word]
    for word in words:
        if word not in known:
            raise UnknownNameError('source of the scene', word, known)
    if not words:
        raise ConfigError(
            f'The parameter sources is empty. Give one or more of: {", ".join(known)}.'
        )
    sources = frozenset(known[word] for word in words)
    if SceneSource.OBJECTS in sources and len(sources) > 1:
        raise ConfigError(
            "The source 'objects' tells of everything there is, so it stands alone. Leave it "
            f'out, or the others; for cameras use: {", ".join(sorted(CAMERAS))}.'
        )
    return sources


def parse_cameras(text: str) -> tuple[str, ...]:
    """
    Read a list of cameras, separated by commas: what their topics begin with.

    Raises ConfigError where there is none, one is named twice, or one could name no topic.
    """
    names = tuple(word for word in text.replace(',', ' ').split() if word)
    if not names:
        raise ConfigError(
            'The parameter cameras is empty. Name one or more, for example table_camera, whose '
            'pictures come on table_camera/color/image_raw.'
        )
    for name in names:
        if not _CAMERA.fullmatch(name) or len(name) > MAX_LENGTH:
            raise ConfigError(
                f'{name[:80]!r} names no camera: it is what the topics of its pictures begin '
                'with, such as table_camera or /camera/camera (letters, digits, underscores).'
            )
    if len(set(names)) < len(names):
        raise ConfigError(f'The parameter cameras has a camera twice: {text}. Name each once.')
    return names


def read_sources(sources: str, scene: str, catalogue: str) -> SourceConfig:
    """
    Check the parameters, of which scene and catalogue may be empty, and read the files.

    Raises UnknownNameError, or ConfigError where a file cannot be used, or is missing.
    """
    wanted = parse_sources(sources)
    if SceneSource.STATIC in wanted and not scene:
        raise ConfigError(
            "The source 'static' needs the parameter scene: the file that says where things are. "
            f'Known scenes: {", ".join(list_scenes())}; or the path of a .yaml file.'
        )
    if not scene and wanted & CAMERAS:
        scene = BARE_TABLE
    file = load_scene(scene) if scene else None
    known = load_catalogue(catalogue) if catalogue else Catalogue()
    if file is not None:
        known = known.with_more(Catalogue.of_objects(file.movables))
    if SceneSource.APRILTAG in wanted and not known.tag_frames:
        raise ConfigError(
            "The source 'apriltag' needs the parameter catalogue: a file whose objects have a "
            '`tag` with its frame, such as config/catalogues/tabletop.yaml.'
        )
    if SceneSource.CAMERA in wanted and not known.names:
        raise ConfigError(
            "The source 'camera' needs to know which objects there may be: give the parameter "
            'catalogue (for example config/catalogues/tabletop.yaml), or a scene with objects.'
        )
    return SourceConfig(
        sources=wanted,
        fixed=() if file is None else (*file.fixtures, *file.places),
        things=file.movables if file is not None and SceneSource.STATIC in wanted else (),
        catalogue=known,
        skills=() if file is None else file.skills,
    )
