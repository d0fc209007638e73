"""How a run of the bench is shown while it goes on: a bar on a terminal, else lines."""

from collections.abc import Callable, Sequence

from bbllm.cli.views.output import Output
from bbllm.core.events import Ending
from bbllm.core.text import count_of
from bbllm_bench.log.results import NO_CASE, EpisodeResult
from bbllm_bench.runner.run_watch import RunProgress


class ProgressView:
    """
    Shows where a run or a comparison stands; a `Watch` and a `CompareWatch`.

    Args:
        output: Where words go.
        bar: That of the output.
        wants_end: Whether Ctrl-C was pressed.
        planners: Those that a comparison plays, in that order.
    """

    def __init__(
        self,
        output: Output,
        bar: Callable[..., None],
        wants_end: Callable[[], bool],
        planners: Sequence[str] = (),
    ):
        self.wants_end = wants_end
        self._output = output
        self._bar = bar
        self._planners = list(planners)
        self._planner = ''
        self._counts = ''

    def plays(self, planner: str) -> None:
        self._planner = planner
        if not self._output.live:
            self._output.print(f'{self._place()}: {self._counts}'.rstrip(': '))

    def began(self, progress: RunProgress) -> None:
        text = f'{count_of(progress.total, "episode")}.'
        self._output.print(
            f'On record already: {progress.done} of {text}' if progress.done else text
        )
        self._show(progress)

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        if not self._output.live:
            # Why a table could not be made is printed once, at the end.
            no_case = result.error == NO_CASE
            reason = 'its table could not be made' if no_case else result.reason
            ending = '' if result.ending in ('', Ending.FINISHED.name) else result.ending
            of = f'{self._planner} ' if self._planner else ''
            parts = (
                f'{progress.done:>4}/{progress.total}',
                f'{of}{result.key.name}',
                result.finding,
                count_of(result.loops, 'loop'),
                count_of(progress.requests, 'request'),
                f'{time_text(progress.left_s)} left',
                ': '.join(filter(None, (ending, reason))),
            )
            self._output.print('  '.join(filter(None, parts)))
        self._show(progress)

    def warned(self, text: str) -> None:
        self._output.print(text, 'yellow')

    def _show(self, progress: RunProgress) -> None:
        parts = [
            f'{progress.done}/{count_of(progress.total, "episode")}',
            f'{progress.passed} passed',
            f'{progress.lost} lost' if progress.lost else '',
            count_of(progress.requests, 'request'),
            f'{progress.per_minute:.0f} a minute' if progress.per_minute else '',
            f'{time_text(progress.left_s)} left',
        ]
        self._counts = ' · '.join(filter(None, parts))
        text = f'{self._place()} · {self._counts}' if self._planner else self._counts
        self._bar(completed=progress.done, description=text, total=progress.total)

    def _place(self) -> str:
        number = self._planners.index(self._planner) + 1
        return f'{number}/{len(self._planners)} {self._planner}'


def time_text(duration_s: float | None) -> str:
    """Return a duration as people read it: 42 s, 3:07, 1:02:30."""
    if duration_s is None:
        return '?'
    seconds = round(duration_s)
    if seconds < 60:
        return f'{seconds} s'
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f'{hours}:{minutes:02}:{seconds:02}' if hours else f'{minutes}:{seconds:02}'
