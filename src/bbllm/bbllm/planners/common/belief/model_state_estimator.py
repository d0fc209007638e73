"""The paper's state estimator: a language model that reads the history of actions."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial

from bbllm.core.protocols import ChatModel, PromptRequest
from bbllm.core.types import Outcome, Scene
from bbllm.planners.common.belief.grammar import REASON, UPDATE, parse_estimate
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.belief.prompting import StatePrompts
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import RejectedLine, reporting
from bbllm.planners.common.short_names import ShortNames

MAX_STATE_LENGTH = 8000
"""Maximum length of all attributes together, which every prompt of the policy contains: 40
characters for each of some 200 objects [characters]."""


@dataclass(frozen=True)
class ModelEstimator:
    """
    An `OpenStateEstimator` that asks a model, from the first step on each time.

    Source: Chen et al., LLM-State, section IV-C2: the prompt omits previous beliefs, so that a
    mistake does not persist.
    """

    model: ChatModel
    names: ShortNames
    """The names in prompts."""
    _: KW_ONLY
    summary: bool = True
    """Whether to ask what has happened and why steps failed."""
    objects: bool = True
    """Whether to ask for attributes of objects; one of both must be true."""
    messages: bool = False
    """Whether the prompt has the reasons of failures."""
    on_discarded: Callable[[RejectedLine], None] = lambda line: None
    on_retry: Callable[[str], None] | None = None

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        self.names.see(scene)
        prompt = StatePrompts(self.names, messages=self.messages).estimator(
            state, history, scene, summary=self.summary, objects=self.objects
        )
        asked = [REASON] * self.summary + [UPDATE] * self.objects
        read = reporting(partial(parse_estimate, functions=asked), self.on_discarded)
        request = PromptRequest(kind='estimate', scene=scene, text=' '.join(asked))
        found = ask(self.model, prompt, read, request=request, on_retry=self.on_retry)
        new = state.blank().with_summary(found.summary)
        room = MAX_STATE_LENGTH
        for word, attributes in found.attributes:
            name = self.names.name(word)
            length = sum(map(len, attributes))
            if name is not None and length <= room:
                room -= length
                new = new.with_attributes(name, attributes)
                continue
            why = f'All attributes together have at most {MAX_STATE_LENGTH} characters.'
            if name is None:
                why = f'There is nothing named {word[:60]}.'
            self.on_discarded(RejectedLine(f'{UPDATE}("{word[:60]}", ...)', why, refused=True))
        return new
