"""When a run stops trying: the same episode again, one failure more."""

from collections import Counter

from bbllm.bench.log.results import NO_CASE, EpisodeKey, EpisodeResult
from bbllm.bench.runner.worker_result import Failed

TRIES = 3
"""How often an episode may cost a worker its life."""
NOTHING_USABLE = 'ModelError'
"""Error of an episode in which the model answered, but empty, without end, or with a refusal. A
reply that makes no sense (ParseError) is the model's doing, and one that others may better."""


class FailurePolicy:
    """What went wrong so far in a session, which gives up after so many episodes in a row."""

    def __init__(self, give_up_after: int):
        self._give_up_after = give_up_after
        self._tries: Counter[EpisodeKey] = Counter()
        self._in_a_row: list[EpisodeResult] = []

    def tries_again(self, failed: Failed) -> bool:
        """Count a failure; return whether its episode is worth another try."""
        self._tries[failed.key] += 1
        return failed.again and self._tries[failed.key] < TRIES

    def lasting_reason(self, failed: Failed) -> str:
        """Return why an episode is lost that is not tried again."""
        if not failed.again:
            return failed.reason
        return (
            f'Its worker was lost {TRIES} times (--retry-lost plays it again); the last time: '
            f'{failed.reason}'
        )

    def end_of_run(self, result: EpisodeResult) -> str:
        """Take one more result; return why that is enough, '' where it is not."""
        if result.error == NO_CASE:
            return ''  # this says nothing of server and workers
        if not result.lost and result.error != NOTHING_USABLE:
            self._in_a_row = []
            return ''
        self._in_a_row.append(result)
        n = len(self._in_a_row)
        if n < self._give_up_after:
            return ''
        were = f'{n} episodes in a row were' if n > 1 else '1 episode was'
        borne = '(--give-up-after N sets how many are borne)'
        if all(item.lost for item in self._in_a_row):
            return (
                f'{were} lost; the last one: {result.reason} Mend that and '
                f'say the same command again with --retry-lost {borne}.'
            )
        return (
            f'{were} lost or ended without a usable reply of the model; the '
            f'last one: {result.message or result.reason} Where the model is to blame, these '
            'episodes count as its failures, and the same command goes on with the others '
            f'{borne}. Where it is not, mend that and begin anew in another folder: --out.'
        )
