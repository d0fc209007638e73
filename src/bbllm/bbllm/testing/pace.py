"""States how fast a model writes, in tokens."""

from dataclasses import dataclass

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a reply is written."""

    first_token_s: float = 0.5
    """Time from the request to the first token [s]."""
    tokens_per_s: float = 40.0
    """Tokens a second after it [1/s]."""

    def due_s(self, token: int) -> float:
        """Return when a token is written, counted from 0, after the request [s]."""
        return self.first_token_s + token / self.tokens_per_s


def tokens_of(text: str) -> list[str]:
    """Cut a text into tokens, all but the last one of `CHARACTERS_PER_TOKEN` characters."""
    starts = range(0, len(text), CHARACTERS_PER_TOKEN)
    return [text[start : start + CHARACTERS_PER_TOKEN] for start in starts]
