"""Speech in `bbllm chat`: lines that are spoken or typed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bbllm.api.session import Session
from bbllm_voice.lines import SpokenLines
from bbllm_voice.sources import open_source
from bbllm_voice.speaker import Speaker
from bbllm_voice.transcribers import make_transcriber


@contextmanager
def open_voice(
    source: str,
    session: Session,
    typed: Callable[[], str | None],
    show: Callable[[str], object],
    speaker: Speaker | None = None,
    *,
    types: bool,
) -> Iterator[SpokenLines]:
    """
    Yield what takes the lines of a conversation; *source* is as of `open_source`.

    Spoken lines wait during an approval, which is typed. The other arguments are those of
    `SpokenLines`.

    Raises:
        ConfigError: The source, or what transcribes, cannot be had.
    """
    transcriber = make_transcriber()

    def stop(reason: str) -> None:
        if speaker is not None:
            speaker.hush()
        session.stop(reason)

    def names() -> tuple[str, ...]:
        scene = session.snapshot().scene
        return () if scene is None else tuple(item.name for item in scene.objects)

    with SpokenLines(
        open_source(source),
        transcriber,
        typed=typed,
        show=show,
        on_stop=stop,
        names=names,
        is_moving=lambda: session.running is not None and session.running.is_under_way,
        is_shut=lambda: session.approvals.waiting is not None,
        is_noisy=lambda: speaker is not None and speaker.is_speaking,
        types=types,
    ) as lines:
        show(f'{transcriber.label} transcribes. “Stop” stops the robot at once.')
        yield lines
