"""What the page can do to a robot: no more than the command line."""

from typing import Protocol

from bbllm_viewer.console.feed import Feed

REMARK_S = 60.0
"""How long a remark's sender waits for what becomes of it, wall clock [s]."""


class Desk(Protocol):
    """
    A robot as the page sees and directs it; any thread may call it.

    Every method raises BbllmError, whose text the page shows, where it was not done.
    """

    feed: Feed
    """What the page shows."""

    def begin(self, instruction: str) -> None:
        """Begin a task; it goes on whatever becomes of the browser."""
        ...

    def say(self, text: str, question: str = '') -> str:
        """
        Send the planner a remark, and return what became of it within `REMARK_S`.

        *question* is the one that it answers, and no other; '' where it answers none.
        """
        ...

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Approve or deny what waits, by its whole hash, in the name of the person here."""
        ...

    def choose(self, scene: str, model: str) -> None:
        """Begin anew with a scene as its file has it, and a model that plans; a robot at rest."""
        ...

    def stop(self) -> None:
        """Stop the arm and the task; the hand keeps its object."""
        ...
