"""What a planner tells of its work, put on record: the voice of an EpisodeContext."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal

from bbllm.core.events import Event, EventKind
from bbllm.core.types import Code, Plan, PlanStep


class Telling(ABC):
    """Turns each thing told into an event; who derives from it keeps the events."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._failed: dict[int, str] = {}
        """Why a step of the plan in force stays failed, by its index."""
        self._held_done = False

    @abstractmethod
    def record(self, kind: EventKind, **data: object) -> None:
        """Add an event to the record."""

    @abstractmethod
    def check(self) -> None:
        """Raise when the episode may not go on."""

    def tell_plan(self, plan: Plan, start: int) -> None:
        """Announce the whole plan in force; steps from `start` on are new."""
        self._failed = {i: cause for i, cause in self._failed.items() if i < start}
        revision = sum(event.kind is EventKind.PLAN for event in self._events)
        steps = [step.text for step in plan.steps]
        self.record(EventKind.PLAN, steps=steps, start=start, revision=revision)

    def tell_step(self, step: PlanStep) -> None:
        """Announce the step that is worked on from now on."""
        self.check()
        self.record(EventKind.STEP, index=step.index, text=step.text)

    def tell_pass(self, step: PlanStep) -> None:
        """Announce that the Body passed on this step."""
        self.record(EventKind.PASS, index=step.index, text=step.text)

    def tell_repair(self, step: PlanStep, cause: str, *, code: Code | None = None) -> None:
        """Announce one feedback loop and the sentence that caused it; `code` as below."""
        loop = 1 + sum(event.kind is EventKind.REPAIR for event in self._events)
        told = {'index': step.index, 'text': step.text, 'cause': cause, 'loop': loop}
        self.record(EventKind.REPAIR, **told, **_coded(code))

    def tell_failed(self, step: PlanStep, cause: str, *, code: Code | None = None) -> None:
        """
        Announce that this step stays failed and the plan goes on without it.

        Args:
            step: Which one.
            cause: Why, in one sentence.
            code: What is wrong with its call, where that was refused before the world heard of it.
        """
        self._failed[step.index] = cause
        coded = _coded(code)
        self.record(EventKind.FAILED, index=step.index, text=step.text, cause=cause, **coded)

    def tell_done(self) -> None:
        """Announce that the planner looked and holds the task for done, however little it did."""
        self._held_done = True

    def tell_grounded(self, word: str, name: str, *, policy: str, among: int) -> None:
        """Announce which thing of the scene a word was taken for."""
        self.record(EventKind.GROUNDED, word=word, name=name, policy=policy, among=among)

    def tell_checked(self, condition: str, holds: bool, *, by: Literal['model', 'graph']) -> None:
        """Announce whether a condition that the plan asserts holds, and who says so."""
        self.record(EventKind.CHECKED, condition=condition, holds=holds, by=by)

    def tell_sub_goal(self, text: str, *, index: int, of: int) -> None:
        """Announce that the planner works on a part of the task, `index` from 0 `of` so many."""
        self.record(EventKind.SUB_GOAL, index=index, of=of, text=text)

    def tell_estimated(self, attributes: Mapping[str, Sequence[str]], summary: str) -> None:
        """
        Announce what the planner believes of things beyond what scenes show.

        Args:
            attributes: Of each thing, by its name in the scene: all that is believed now.
            summary: What has happened so far in the planner's own words, '' where it has none.
        """
        self.record(EventKind.ESTIMATED, attributes=attributes, summary=summary)

    def tell_discarded(
        self,
        text: str,
        why: str,
        *,
        code: Code | None = None,
        rules: Sequence[str] = (),
        refused: bool = False,
    ) -> None:
        """
        Announce that a line of a model's reply was left out, and why.

        Args:
            text: The line.
            why: One sentence.
            code: Where the line is an action of a plan: what is wrong with its call.
            rules: Beside a code that stands for several: which rules of its world it breaks.
            refused: Whether it can be read, and names what is not there or is against a check;
                so is whatever has a code. Otherwise it fits no grammar.
        """
        kind = refused or code is not None
        told = {'text': text, 'why': why, 'refused': kind, **_coded(code)}
        self.record(EventKind.DISCARDED, **told, **({'rules': list(rules)} if rules else {}))

    def warn(self, text: str) -> None:
        """Tell people something that changes nothing."""
        self.record(EventKind.WARNING, text=text)


def _coded(code: Code | None) -> dict[str, Code]:
    return {} if code is None else {'code': code}
