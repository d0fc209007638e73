"""The rounds of an episode in a prompt, of which the oldest are shortened where space is short."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeVar

from bbllm import ChatModel, errors
from bbllm.planning import PromptRequest, ask, most_tokens, prompt_limit

T = TypeVar('T')

BUDGET = 40_000
"""Maximum length of a history if neither planner nor model sets a limit [characters]."""
SHARE_USED = 0.95
"""Share of a model's limit to use; rare words take more tokens, and servers add some."""


class HistoryRound(Protocol):
    """A round of an episode, as text of two lengths."""

    def in_full(self, number: int) -> str: ...

    def in_short(self, number: int) -> str: ...


@dataclass(frozen=True, slots=True)
class HistoryForm:
    """How a history is written."""

    empty: str
    """Text of a history without rounds."""
    shortened: str
    """How the oldest rounds are written if space is short; part of a warning."""
    omitted: str = ''
    """First line of a history without its first `{}` rounds; empty for none."""


@dataclass
class PromptHistory:
    """Rounds of an episode; where space is short, the oldest are shortened, then omitted."""

    form: HistoryForm
    budget: int | None = BUDGET
    """Maximum length of the text [characters]; None if only the model has a limit."""
    on_short: Callable[[str], None] = lambda text: None
    """Receives one warning when rounds are no longer written in full."""
    n_rounds: int = 0

    def __post_init__(self) -> None:
        self._entries: list[HistoryRound | str] = []
        self._warned = False

    def add(self, finished: HistoryRound) -> None:
        self._entries.append(finished)
        self.n_rounds += 1

    def note(self, line: str) -> None:
        self._entries.append(line)

    def write(self, in_short: int = 0, left_out: int = 0) -> str:
        """Return the text with the oldest rounds in short, and the oldest of these omitted."""
        parts = [self.form.omitted.format(left_out)] if left_out and self.form.omitted else []
        numbers = count()
        for entry in self._entries:
            if isinstance(entry, str):
                parts.append(entry)
            elif (i := next(numbers)) >= left_out:
                parts.append(entry.in_full(i) if i >= in_short else entry.in_short(i))
        return '\n'.join(parts) or self.form.empty

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
                f'on prompts have its oldest rounds {self.form.shortened}, or leave them out.'
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
        images: tuple[bytes, ...] = (),
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
                    model, write(text), read, request=request, on_retry=on_retry, images=images
                )
            except errors.PromptTooLongError:
                self.budget = len(text) // 2
                if len(self.text(fits)) >= len(text):
                    raise


def budget_of(model: ChatModel) -> int | None:
    """Return the maximum length of a history [characters]; None if the model's limit decides."""
    return BUDGET if prompt_limit(model) is None else None
