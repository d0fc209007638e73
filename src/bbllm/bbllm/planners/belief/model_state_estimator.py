"""The paper's state estimator: a language model that is told all that was done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bbllm.core.protocols import ChatModel, PromptRequest
from bbllm.core.types import Outcome, Scene
from bbllm.planners.belief.grammar import REASON, UPDATE, parse_estimate
from bbllm.planners.belief.prompting import StatePrompts
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.common.reply_diagnostics import RejectedLine, ask_for_lines
from bbllm.planners.common.short_names import ShortNames

MAX_STATE_LENGTH = 8000
"""All attributes together: 40 characters for each of some 200 things. All prompts of the policy
tell them [characters]."""


class ModelEstimator:
    """
    A `OpenStateEstimator` that asks a model, from the first step on each time.

    Source: Chen et al., LLM-State, section IV-C2: what was believed before is not told again, so
    that a mistake is not carried on.
    """

    def __init__(
        self,
        model: ChatModel,
        names: ShortNames,
        *,
        summary: bool = True,
        objects: bool = True,
        messages: bool = False,
        on_discarded: Callable[[RejectedLine], None] | None = None,
        on_retry: Callable[[str], None] | None = None,
    ):
        """
        Make an estimator.

        Args:
            model: Who is asked.
            names: What things are called.
            summary: Whether it is asked what has happened, and why steps failed.
            objects: Whether it is asked what is so of things; of the two at least one.
            messages: Whether it is told why a step failed, and not only that it did.
            on_discarded: Told each line of a reply that is left out.
            on_retry: See `prompting.ask`.
        """
        self._model = model
        self._names = names
        self._summary = summary
        self._objects = objects
        self._prompts = StatePrompts(names, messages=messages)
        self._on_discarded = on_discarded or _ignore
        self._on_retry = on_retry

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        """Return what is believed now; see `OpenStateEstimator`."""
        self._names.see(scene)
        prompt = self._prompts.estimator(
            state, history, scene, summary=self._summary, objects=self._objects
        )
        asked = [REASON] * self._summary + [UPDATE] * self._objects
        found = ask_for_lines(
            self._model,
            prompt,
            lambda text: parse_estimate(text, asked),
            on_discarded=self._on_discarded,
            request=PromptRequest(kind='estimate', scene=scene, text=' '.join(asked)),
            on_retry=self._on_retry,
        )
        new = state.blank().with_summary(found.summary)
        room = MAX_STATE_LENGTH
        for thing, words in found.attributes:
            name = self._names.name(thing)
            length = sum(map(len, words))
            if name is not None and length > room:
                why = f'All attributes together have at most {MAX_STATE_LENGTH} characters.'
                self._on_discarded(
                    RejectedLine(f'{UPDATE}("{thing[:60]}", ...)', why, refused=True)
                )
            elif name is None:
                why = f'There is nothing named {thing[:60]}.'
                self._on_discarded(
                    RejectedLine(f'{UPDATE}("{thing[:60]}", ...)', why, refused=True)
                )
            else:
                room -= length
                new = new.with_attributes(name, words)
        return new


def _ignore(line: RejectedLine) -> None:
    """Do nothing with a line that is left out."""
