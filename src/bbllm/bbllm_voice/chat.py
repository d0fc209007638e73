"""Speech in `bbllm chat`: the lines of a person, and the replies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bbllm.api.session import Session
from bbllm_voice.lines import SpokenLines
from bbllm_voice.sources import open_source
from bbllm_voice.transcribers import make_transcriber


@contextmanager
def open_voice(
    source: str,
    session: Session,
    *,
    typed: Callable[[], str | None],
    show: Callable[[str], object],
    is_noisy: Callable[[], bool],
    types: bool,
) -> Iterator[SpokenLines]:
    """
    Yield what takes the lines of a conversation, spoken into *source* or typed.

    Approvals are typed: spoken lines wait meanwhile. The other arguments are those of
    `SpokenLines`.
    """
    transcriber = make_transcriber()
    with SpokenLines(
        open_source(source),
        transcriber,
        typed=typed,
        show=show,
        on_stop=session.stop,
        names=lambda: (),
        is_moving=lambda: session.running is not None,
        is_shut=lambda: session.approvals.waiting is not None,
        is_noisy=is_noisy,
        types=types,
    ) as lines:
        show(f'Speech is transcribed by {transcriber.label}. “Stop” stops the robot at once.')
        yield lines
