"""The rounds of an episode in a prompt, of which the oldest are shortened where space is short."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bbllm import ChatModel, EpisodeContext, errors
from bbllm.planning import Observed, PromptRequest, ask, most_tokens, one_line, prompt_limit

T = TypeVar('T')

BUDGET = 40_000
"""Maximum length of a history if neither planner nor model sets a limit [characters]."""
SHARE_USED = 0.95
"""Share of a model's limit to use; rare words take more tokens, and servers add some."""
DONE = 'done'
FAILED = 'failed: '
"""Precedes the cause of a failure."""
NOT_TRIED = 'not tried'
"""Result of actions after a failed one."""


@dataclass(frozen=True, slots=True)
class TriedAction:
    """One action of a plan, and its result."""

    action: str
    """The text of the planner, without the word ACTION."""
    result: str = NOT_TRIED
    observation: Observed | None = None
    """The observation after it; None if it was not tried."""

    def in_short(self) -> str:
        words = f'{self.action} {one_line(self.result)}'
        if self.observation is None or self.observation.force_n is None:
            return words
        return f'{words}, force z {self.observation.force_n[2] + 0.0:.2f}'


@dataclass(frozen=True, slots=True)
class Round:
    """One plan with its results."""

    explanation: str
    tried: tuple[TriedAction, ...] = ()

    def in_full(self, number: int) -> str:
        lines = [f'== Round {number} ==', f'Explanation: {one_line(self.explanation)}']
        for i, item in enumerate(self.tried):
            lines += [f'Action {i}: {item.action}', f'Result {i}: {one_line(item.result)}']
            if item.observation is not None:
                lines.append(f'Observation {i}: {item.observation}')
        return '\n'.join(lines)

    def in_short(self, number: int) -> str:
        done = '; '.join(item.in_short() for item in self.tried if item.result != NOT_TRIED)
        return f'Round {number} in short: {done or "nothing was done"}'


@dataclass
class PromptHistory:
    """Rounds of an episode; where space is short, the oldest are shortened, then omitted."""

    budget: int | None = BUDGET
    """Maximum length of the text [characters]; None if only the model has a limit."""
    on_short: Callable[[str], None] = lambda text: None
    """Receives one warning when rounds are no longer written in full."""

    def __post_init__(self) -> None:
        self._rounds: list[Round] = []
        self._warned = False

    @property
    def n_rounds(self) -> int:
        return len(self._rounds)

    def add(self, finished: Round) -> None:
        self._rounds.append(finished)

    def write(self, in_short: int = 0, left_out: int = 0) -> str:
        """Return the text with the oldest rounds in short, and the oldest of these omitted."""
        parts = [f'Rounds before round {left_out} are left out.'] if left_out else []
        for i, each in enumerate(self._rounds[left_out:], start=left_out):
            parts.append(each.in_full(i) if i >= in_short else each.in_short(i))
        return '\n'.join(parts) or 'None.'

    def text(self, fits: Callable[[str], bool] = lambda text: True) -> str:
        """Return the text within the budget if possible, the newest round always in full."""
        older = range(1, max(1, self.n_rounds))
        ways = [(0, 0), *((n, 0) for n in older), *((len(older), n) for n in older)]
        for in_short, left_out in ways:
            text = self.write(in_short, left_out)
            if (self.budget is None or len(text) <= self.budget) and fits(text):
                break
        if in_short and not self._warned:
            self._warned = True
            room = f'the {self.budget} characters there are for it'
            if self.budget is None or len(self.write()) <= self.budget:
                room = (
                    'the room that `context_tokens` of the model in config/llm.yaml leaves for it'
                )
            self.on_short(
                f'The history of {self.n_rounds} rounds is longer than {room}: from here '
                'on prompts have its oldest rounds in a line each, or leave them out.'
            )
        return text

    def ask(
        self,
        model: ChatModel,
        write: Callable[[str], str],
        read: Callable[[str], T],
        *,
        request: PromptRequest | None = None,
        on_retry: Callable[[str], None] | None = None,
        person: EpisodeContext | None = None,
    ) -> T:
        """
        Ask as `ask` does, with as much of the history as the model has space for.

        The history shrinks each time the model finds the prompt too long, at last
        PromptTooLongError.
        """
        limit = prompt_limit(model)

        def fits(text: str) -> bool:
            return limit is None or most_tokens(write(text)) <= SHARE_USED * limit

        while True:
            text = self.text(fits)
            try:
                return ask(
                    model, write(text), read, request=request, on_retry=on_retry, person=person
                )
            except errors.PromptTooLongError:
                self.budget = len(text) // 2
                if len(self.text(fits)) >= len(text):
                    raise


def budget_of(model: ChatModel) -> int | None:
    """Return the maximum length of a history [characters]; None if the model's limit decides."""
    return BUDGET if prompt_limit(model) is None else None
