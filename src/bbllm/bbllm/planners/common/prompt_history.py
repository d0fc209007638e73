"""The past of an episode as prompts tell it, and what it leaves out where there is no room."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

from bbllm.core.errors import PromptTooLongError
from bbllm.core.prompt_size import most_tokens, prompt_limit
from bbllm.core.protocols import ChatModel, PromptRequest
from bbllm.planners.common.prompting import ask

T = TypeVar('T')

BUDGET = 40_000
"""How long a past in a prompt may be, where nobody said and the model tells no limit
[characters]."""

SHARE_USED = 0.95
"""Of a model's limit; rare words take more tokens, and servers put some around a prompt."""


class PromptHistory(ABC):
    """
    Rounds of which the oldest are told in short, and then not at all, where there is no room.

    Args:
        budget: How long its text may be [characters]; None where only the model has a limit. The
            newest round is always told in full.
        on_short: Told once, in a sentence, that rounds are no longer told in full.
    """

    in_short = 'in short'
    """How the oldest rounds are told then, for that sentence."""

    def __init__(
        self, budget: int | None = BUDGET, *, on_short: Callable[[str], None] | None = None
    ):
        self._budget = budget
        self._on_short = on_short

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """How many rounds there were."""

    @abstractmethod
    def write(self, in_short: int = 0, left_out: int = 0) -> str:
        """Write it with so many of the oldest rounds in short, and of those so many not at all."""

    def text(self, fits: Callable[[str], bool] | None = None) -> str:
        """
        Write it stands in prompts, within the budget where that can be.

        Args:
            fits: Tells of a text whether there is room for it in the prompt besides.
        """
        text = self.write()
        if self._is_short(text, fits):
            return text
        for in_short, left_out in self._ways():
            text = self.write(in_short, left_out)
            if self._is_short(text, fits):
                break
        if self.n_rounds > 1 and self._on_short is not None:
            tell, self._on_short = self._on_short, None
            tell(
                f'The history of {self.n_rounds} rounds is longer than {self._room()}: from here '
                f'on prompts tell its oldest rounds {self.in_short}, or leave them out.'
            )
        return text

    def shrink(self, fits: Callable[[str], bool] | None = None) -> bool:
        """Make the budget half of what the text takes now; False where it cannot be shorter."""
        length = len(self.text(fits))
        self._budget = length // 2
        return len(self.text(fits)) < length

    def _is_short(self, text: str, fits: Callable[[str], bool] | None) -> bool:
        in_budget = self._budget is None or len(text) <= self._budget
        return in_budget and (fits is None or fits(text))

    def _room(self) -> str:
        if self._budget is None or len(self.write()) <= self._budget:
            return 'the room that `context_tokens` of the model in config/llm.yaml leaves for it'
        return f'the {self._budget} characters there are for it'

    def _ways(self) -> Iterator[tuple[int, int]]:
        """Yield how many rounds to tell in short, and how many of those not at all."""
        older = max(0, self.n_rounds - 1)
        yield from ((in_short, 0) for in_short in range(1, older + 1))
        yield from ((older, left_out) for left_out in range(1, older + 1))


def budget_for(model: ChatModel, said: int | None = None) -> int | None:
    """
    Return how long a past may be [characters], None where the model's own limit is what counts.

    Args:
        model: Who reads it.
        said: What the planner was told.
    """
    if said is not None:
        return said
    return BUDGET if prompt_limit(model) is None else None


def ask_shorter(
    model: ChatModel,
    write: Callable[[str], str],
    past: PromptHistory,
    read: Callable[[str], T],
    *,
    request: PromptRequest | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> T:
    """
    Ask a model, with as much of the past as it has room for.

    Args:
        model: Who is asked; one that tells how long its prompts may be is sent none longer.
        write: Writes the prompt around the text of the past.
        past: Shrinks each time that the model finds the prompt too long.
        read: See `prompting.ask`.
        request: See `prompting.ask`.
        on_retry: See `prompting.ask`.

    Raises:
        PromptTooLongError: It is too long with the shortest past, too.
        ParseError: See `prompting.ask`.
        ModelError: See `prompting.ask`.
    """
    limit = prompt_limit(model)

    def fits(text: str) -> bool:
        return limit is None or most_tokens(write(text)) <= SHARE_USED * limit

    while True:
        try:
            text = write(past.text(fits))
            return ask(model, text, read, request=request, on_retry=on_retry)
        except PromptTooLongError:
            if not past.shrink(fits):
                raise
