"""Steps that a Body maps while the arm moves, in a thread beside that of the planner."""

import threading
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from bbllm.core.cancel import POLL_S, CancelToken
from bbllm.core.errors import BbllmError
from bbllm.core.protocols import MappedStep, OverlappingBody
from bbllm.core.types import PlanStep, Scene

CLOSE_S = 2.0
"""How long a request that was cancelled may take to end [s]."""


@dataclass(frozen=True, slots=True)
class MappedAhead:
    """What a step became before its turn."""

    step: PlanStep
    mapped: MappedStep | None
    """None where the Body wants to be asked at its turn."""
    scene: Scene
    """The scene that the Body was shown."""


Batch = tuple[Sequence[PlanStep], Scene]
"""Steps to ask for in one request, and the scene that the Body is shown."""
Choose = Callable[[Sequence[PlanStep], Container[int]], Batch | None]
"""Returns the next request for some of the steps to come, given the numbers of those mapped."""


class StepsAhead:
    """
    Asks a Body for the steps to come, one request at a time, each for twice as many as the last.

    So the next step does not wait for the replies to all later ones, and requests stay few.
    Used by one thread; another one waits for the replies. A request that fails is forgotten: the
    step is asked for at its turn, and fails there.
    """

    def __init__(self, body: OverlappingBody):
        self._body = body
        self._changed = threading.Condition()
        self._steps: Callable[[], Sequence[PlanStep]] = tuple
        self._growing: Callable[[], bool] = bool
        self._choose: Choose | None = None
        """None while nothing new is to be asked."""
        self._next = 0
        """Number of the first step to map."""
        self._known: dict[int, MappedAhead] = {}
        self._asked: tuple[PlanStep, ...] = ()
        """The steps of the request under way."""
        self._size = 1
        """How many steps the next request has at most."""
        self._failed = False
        self._fault: BaseException | None = None
        """What is no error of this project; raised in the thread that uses the steps."""
        self._cancel = CancelToken()
        self._thread: threading.Thread | None = None

    def follow(self, steps: Callable[[], Sequence[PlanStep]], growing: Callable[[], bool]) -> None:
        """Map this plan from now on: its steps so far, and whether more may come."""
        self.discard()
        with self._changed:
            self._steps, self._growing = steps, growing

    def begin(self, number: int, choose: Choose) -> None:
        """Map the steps from a number on, until the next one is taken."""
        with self._changed:
            self._next, self._choose = number, choose
            if self._thread is None and not self._failed:
                self._thread = threading.Thread(target=self._work, name='mapper', daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def take(self, number: int) -> MappedAhead | None:
        """Return what a step became, once; waits for a request that has it. None for unknown."""
        with self._changed:
            self._choose = None
            while any(step.index == number for step in self._asked):
                self._changed.wait(POLL_S)
            if self._fault is not None:
                raise self._fault
            return self._known.pop(number, None)

    def peek(self, number: int) -> MappedStep | None:
        """Return what a step has become so far; None for unknown."""
        with self._changed:
            found = self._known.get(number)
            return found.mapped if found is not None else None

    def discard(self) -> None:
        """Forget what was mapped, and end the request under way."""
        with self._changed:
            self._cancel.cancel('The steps ahead are no longer needed.')
            self._cancel = CancelToken()
            self._known, self._asked, self._choose, self._failed = {}, (), None, False
            self._size = 1
            self._changed.notify_all()

    def close(self) -> bool:
        """End all work; return whether it has ended."""
        self.discard()
        thread = self._thread
        if thread is not None:
            thread.join(CLOSE_S)
        return thread is None or not thread.is_alive()

    # --- the thread that waits for the replies ----------------------------------------------

    def _work(self) -> None:
        while (request := self._request()) is not None:
            steps, scene, cancel = request
            mapped: Sequence[MappedStep | None] = ()
            try:
                mapped = self._body.map_ahead(steps, scene, cancel=cancel)
            except BbllmError:
                with self._changed:
                    self._failed = self._failed or cancel is self._cancel
            except BaseException as error:
                self._fault = error
            with self._changed:
                if cancel is self._cancel:
                    self._asked = ()
                    self._known |= {
                        step.index: MappedAhead(step, it, scene)
                        for step, it in zip(steps, mapped, strict=False)
                    }
                self._changed.notify_all()

    def _request(self) -> tuple[Sequence[PlanStep], Scene, CancelToken] | None:
        """Return the next request; None where there is nothing more to ask, which ends."""
        with self._changed:
            while self._choose is not None and not self._failed and self._fault is None:
                batch = self._choose(self._steps()[self._next :], self._known)
                if batch is not None and self._body.overlaps:
                    steps, scene = batch
                    self._asked = tuple(steps[: self._size])
                    self._size *= 2
                    return self._asked, scene, self._cancel
                if not self._growing():
                    break
                self._changed.wait(POLL_S)
            self._thread = None
            return None
