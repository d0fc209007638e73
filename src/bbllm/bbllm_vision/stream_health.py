"""Whether colour, depth and camera_info of a camera come, by their stamps and times."""

import math
from dataclasses import dataclass, field
from enum import Enum

from bbllm_vision.frame_pairs import SET_BACK_S
from bbllm_vision.picture_health import PictureFault


class Stream(Enum):
    """A topic of a camera with depth, below its name, as realsense2_camera publishes it."""

    COLOR = 'color/image_raw'
    DEPTH = 'aligned_depth_to_color/image_raw'
    INFO = 'color/camera_info'


ALIGN = 'Start its driver with align_depth.enable:=true (realsense2_camera)'
RESTART = 'Check its cable, and start its driver again'
REMEDIES = {Stream.COLOR: RESTART, Stream.DEPTH: ALIGN, Stream.INFO: RESTART}


@dataclass(slots=True)
class _Record:
    """What came of one stream; times are monotonic [s]."""

    came_s: float = -math.inf
    """When its newest message came."""
    moved_s: float = -math.inf
    """When its newest stamp came that was later than those before."""
    stamp_s: float = -math.inf
    """The latest stamp."""


@dataclass(slots=True)
class StreamHealth:
    """Keeps what came of each stream of a camera; *topics* are the whole names of the streams."""

    topics: dict[Stream, str]
    silent_after_s: float
    """From what time without a message, or with old stamps only, a stream is missing [s]."""
    tolerance_s: float
    """How far apart the stamps of colour and depth may be [s]."""
    _records: dict[Stream, _Record] = field(init=False)

    def __post_init__(self) -> None:
        self._records = {stream: _Record() for stream in Stream}

    def take(self, stream: Stream, stamp_s: float, now_s: float) -> None:
        """Take in a message, its stamp [s] and the monotonic time [s]."""
        record = self._records[stream]
        record.came_s = now_s
        if not record.stamp_s - SET_BACK_S <= stamp_s <= record.stamp_s:
            record.stamp_s, record.moved_s = stamp_s, now_s

    def judge(self, now_s: float, paired_s: float) -> PictureFault | None:
        """
        Return which stream is missing; None where all come.

        Args:
            now_s: Monotonic time [s].
            paired_s: Monotonic time of the newest pair of colour and depth; -inf without any [s].
        """
        for stream in (Stream.COLOR, Stream.DEPTH, Stream.INFO):
            record, topic = self._records[stream], self.topics[stream]
            if math.isinf(record.came_s):
                text = f'has sent nothing on {topic}. {REMEDIES[stream]}'
                return PictureFault(reason='missing', text=text)
        silent_s = {stream: now_s - self._records[stream].came_s for stream in Stream}
        if max(silent_s.values()) > self.silent_after_s:
            # Of a camera that is unplugged, any of them may be the first to be late.
            whole = silent_s[Stream.COLOR] > self.silent_after_s / 2
            stream = Stream.COLOR if whole else max(silent_s, key=lambda each: silent_s[each])
            text = f'has sent nothing on {self.topics[stream]} for {silent_s[stream]:.1f} s. '
            return PictureFault(reason='silent', text=text + REMEDIES[stream])
        for stream in (Stream.COLOR, Stream.DEPTH):
            record, topic = self._records[stream], self.topics[stream]
            # A camera_info that never changes may keep its stamp.
            if (still_s := now_s - record.moved_s) > self.silent_after_s:
                text = (
                    f'has sent no stamp later than {record.stamp_s:.3f} s on {topic} for '
                    f'{still_s:.1f} s, so it is frozen. Start its driver again'
                )
                return PictureFault(reason='frozen', text=text)
        if now_s - paired_s > self.silent_after_s:
            color_s, depth_s = (self._records[s].stamp_s for s in (Stream.COLOR, Stream.DEPTH))
            text = (
                f'sends colour and depth whose stamps differ by {abs(color_s - depth_s):.3f} s, '
                f'and at most {self.tolerance_s:g} s will do (pair_tolerance_s). Start its '
                'driver with enable_sync:=true (realsense2_camera)'
            )
            return PictureFault(reason='pairs', text=text)
        return None
