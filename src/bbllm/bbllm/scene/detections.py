"""
Detections as objects in the world frame; implausible ones are left out.

Each reason to leave something out is reported once for each object, and counted always.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bbllm.core.naming import color_fault, name_fault, quoted
from bbllm.core.types import MOVABLE, Kind, Pose, Quat, SceneObject
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.transforms import IDENTITY, FrameError, TransformTree, compose, normalized
from bbllm.skills.shapes import Vector

WORLD_FRAME = 'fr3_link0'
AHEAD_S = 0.5
"""A stamp further ahead of the world's clock is the mark of a clock that is wrong [s]."""
FARTHEST_M = 3.0
"""What is further from the base along an axis is a slip of the detector [m]."""
ODD_LENGTH = 0.05
"""Quaternions whose length is off by more are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """One object as a detector reports it."""

    name: str
    """Its name, its class in the catalogue, or the frame of its AprilTag."""
    position_m: Vector
    """Of its centre, or of its tag where that names it, in the detector's frame [m]."""
    quat_xyzw: Quat
    """Perhaps not of length 1; four zeros where the detector has no orientation."""
    confidence: float = 1.0
    kind: str = ''
    """Empty: the catalogue's."""
    color: str = ''
    size_m: Vector = (0.0, 0.0, 0.0)
    """Zeros: the catalogue's [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionBatch:
    """The detections of one picture as they were sent."""

    source: str
    frame: str
    stamp_s: float
    """When the picture was taken, on the world's clock [s]."""
    detections: tuple[Detection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The objects that one source saw at one moment."""

    source: str
    """The source, for example a topic with the camera's frame."""
    stamp_s: float
    """When, on the world's clock [s]."""
    sightings: tuple[SceneObject, ...]
    """Each object where it was seen, world frame."""
    camera_m: Vector | None = None
    """Position of the camera, world frame; None where that is unknown [m]."""
    complete: bool = True
    """Whether an object that the source has seen and this does not show may be missing; not so of
    a camera whose view changes."""
    sees: Callable[[Vector], bool] | None = None
    """Whether a place, world frame, is in view and nothing is before it; None where that is
    unknown [m]."""


class Doubts:
    """Reports each reason to leave something out once, and counts all of them."""

    def __init__(self, on_warning: Callable[[str], None]):
        """Start without any; *on_warning* receives each new sentence."""
        self.counts: Counter[str] = Counter()
        """How often, by reason: `low confidence`, `unknown name` and so on."""
        self.newest = ''
        """The newest sentence, whether it was reported or not."""
        self._on_warning = on_warning
        self._reported: set[tuple[str, str]] = set()

    def note(self, reason: str, about: str, text: str) -> None:
        """Count a short reason; report its text if it is the first about this object."""
        self.counts[reason] += 1
        self.newest = text
        if (reason, about) not in self._reported:
            self._reported.add((reason, about))
            self._on_warning(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class SightingParams:
    """What is believed."""

    min_confidence: float = 0.5
    """Detections that are less sure are left out, from 0 to 1."""
    max_delay_s: float = 2.0
    """Pictures that come later after they were taken are left out [s]."""


class _Doubtful(Exception):  # noqa: N818  # never leaves this module
    """A picture or detection that is left out: a reason for counts, about what, and a sentence."""

    def __init__(self, reason: str, about: str, text: str):
        super().__init__(reason, about, text)


class SightingReader:
    """Turns detections into pictures; *reserved* are the names of furniture and places."""

    def __init__(
        self,
        tree: TransformTree,
        catalogue: Catalogue,
        reserved: Collection[str],
        doubts: Doubts,
        params: SightingParams | None = None,
    ) -> None:
        self._tree = tree
        self._catalogue = catalogue
        self._reserved = frozenset(reserved)
        self._doubts = doubts
        self._params = params or SightingParams()

    def read(
        self,
        detections: Sequence[Detection],
        *,
        source: str,
        frame: str,
        stamp_s: float,
        now_s: float,
        complete: bool = True,
    ) -> Picture | None:
        """
        Return the objects in a picture; None where the picture as a whole cannot be used.

        Their poses are in *frame*; the picture was taken at *stamp_s*, on the world's clock [s].
        *complete* as in `Picture`.
        """
        try:
            self._check_time(source, stamp_s, now_s)
            T_world_frame = self._frame(source, frame, stamp_s)
        except _Doubtful as doubt:
            self._doubts.note(*doubt.args)
            return None
        found: dict[str, tuple[float, SceneObject]] = {}
        for detection in detections:
            try:
                item = self._sighting(detection, T_world_frame, source)
            except _Doubtful as doubt:
                self._doubts.note(*doubt.args)
                continue
            rival = found.get(item.name)
            if rival is not None:
                text = f'{source} reported two objects named {item.name} in one picture; '
                self._doubts.note(
                    'duplicate name', item.name, text + 'the one it is surer of is taken.'
                )
            if rival is None or detection.confidence > rival[0]:
                found[item.name] = (detection.confidence, item)
        return Picture(
            source=f'{source} {frame}',
            stamp_s=stamp_s,
            sightings=tuple(item for _, item in found.values()),
            camera_m=T_world_frame.position_m,
            complete=complete,
        )

    def _check_time(self, source: str, stamp_s: float, now_s: float) -> None:
        if stamp_s <= 0.0:
            reason, text = 'no stamp', 'have no stamp, so it is unknown when they were taken.'
        elif stamp_s > now_s + AHEAD_S:
            reason = 'stamp in the future'
            text = f'are {stamp_s - now_s:.1f} s ahead of the robot; are the clocks in step?'
        elif stamp_s < now_s - self._params.max_delay_s:
            reason, limit_s = 'stamp in the past', self._params.max_delay_s
            text = f'are {now_s - stamp_s:.1f} s late, and at most {limit_s:g} s will do; are '
            text += 'the clocks in step?'
        else:
            return
        raise _Doubtful(reason, source, f'Pictures of {source} are left out: they {text}')

    def _frame(self, source: str, frame: str, stamp_s: float) -> Pose:
        try:
            if not frame.strip():
                raise FrameError(f'{source} does not name the frame its poses are in.')
            return self._tree.lookup(WORLD_FRAME, frame, stamp_s)
        except FrameError as error:
            text = f'{source} cannot be used: {error}'
            raise _Doubtful('frame', f'{source} {frame}', text) from error

    def _sighting(self, reported: Detection, T_world_frame: Pose, source: str) -> SceneObject:
        tagged = self._catalogue.tagged(reported.name)
        entry = tagged or self._catalogue.named(reported.name)
        name = entry.name if entry is not None else reported.name
        if fault := name_fault(name) or color_fault(reported.color):
            # Told of once for each source: there is no end of such names.
            text = f'Detections of {source} are left out: {fault}.'
            raise _Doubtful('bad name', source, text)
        if doubt := self._doubt(reported, name):
            reason, text = doubt
            raise _Doubtful(reason, name, f'Detections of {name} are left out: {text}')
        kind, size_m, color = _kind(reported), reported.size_m, reported.color
        if entry is not None:
            kind, color = kind or Kind(entry.kind), color or entry.color
            size_m = size_m if all(size > 0 for size in size_m) else entry.size_m
        if kind is None or not all(0 < size < FARTHEST_M for size in size_m):
            known = ', '.join(self._catalogue.names) or 'none'
            text = f'{name} is left out: no catalogue has it, and its detector does not '
            text += f'report kind and size. The catalogue has: {known}.'
            raise _Doubtful('unknown name', name, text)
        tag = tagged.tag if tagged is not None else None
        pose = self._pose(name, reported, T_world_frame, tag.T_tag_centre if tag else IDENTITY)
        return SceneObject(name=name, kind=kind, size_m=size_m, color=color, pose=pose)

    def _doubt(self, reported: Detection, name: str) -> tuple[str, str] | None:
        """Return why a detection cannot be believed: a reason and the rest of a sentence."""
        least = self._params.min_confidence
        if name in self._reserved:
            return 'reserved name', 'the scene file states where that is.'
        if not reported.confidence >= least:  # also true of nan
            text = f'the detector is less sure than {least:g} (min_confidence), as with '
            return 'low confidence', f'{text}{reported.confidence:.2f}.'
        if not all(map(math.isfinite, (*reported.position_m, *reported.quat_xyzw))):
            return 'no number', 'a pose is not made of finite numbers.'
        if not any(reported.position_m):
            return 'zero pose', 'the position is 0 0 0, which is in the lens.'
        if reported.kind and _kind(reported) not in MOVABLE:
            kinds = ', '.join(sorted(kind.value for kind in MOVABLE))
            return (
                'bad kind',
                f'{quoted(reported.kind)} is no kind that is detected, as {kinds} are.',
            )
        return None

    def _pose(self, name: str, reported: Detection, T_world_frame: Pose, offset: Pose) -> Pose:
        """Return the pose of the centre, world frame; upright where the detector has no turn."""
        length = math.hypot(*reported.quat_xyzw)
        turned = length >= 1e-6
        if not turned:
            text = f'Detections of {name} have no orientation; it is taken to stand upright, with '
            self._doubts.note('no orientation', name, text + "its sides along the robot's axes.")
        elif abs(length - 1.0) > ODD_LENGTH:
            text = f'Detections of {name} have quaternions of length {length:.2f}; '
            self._doubts.note('odd quaternion', name, text + 'they are scaled to 1.')
        quat = normalized(reported.quat_xyzw) if turned else IDENTITY.quat_xyzw
        seen = Pose(position_m=reported.position_m, quat_xyzw=quat)
        pose = compose(T_world_frame, compose(seen, offset))
        if any(abs(value) > FARTHEST_M for value in pose.position_m):
            x, y, z = pose.position_m
            text = f'Detections of {name} are left out where it would be at {x:.1f} {y:.1f} '
            text += f'{z:.1f}, more than {FARTHEST_M:g} m from the base. Is the camera calibrated?'
            raise _Doubtful('far away', name, text)
        return pose if turned else Pose(position_m=pose.position_m)


def _kind(reported: Detection) -> Kind | None:
    return next((kind for kind in Kind if kind.value == reported.kind), None)
