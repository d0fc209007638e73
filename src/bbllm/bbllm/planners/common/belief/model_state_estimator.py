"""
LLM-State's state estimator, a language model that reads the history, and the prompts of all roles.

Source: Chen et al., LLM-State, appendix VI-A, in own words. Constant parts come first, so that a
server can cache the beginning.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial

from bbllm.core.events import LineDiscarded
from bbllm.core.protocols import ChatModel, PromptRequest
from bbllm.core.types import Outcome, Scene
from bbllm.planners.common.belief.grammar import REASON, UPDATE, parse_estimate
from bbllm.planners.common.belief.interaction_history import TAKING
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.prompting import ask, render
from bbllm.planners.common.reply_diagnostics import reporting
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.observation_text import ROOMS, ShortNames, text_of

PACKAGE = 'bbllm.planners.common.belief'


@dataclass(frozen=True)
class StatePrompts:
    """Renders the prompts of one episode; `names` must have seen every scene."""

    names: ShortNames
    messages: bool = False

    def estimator(
        self,
        state: OpenState,
        history: Sequence[Outcome],
        scene: Scene,
        *,
        summary: bool = True,
        objects: bool = True,
    ) -> str:
        """Return the prompt that asks for a summary, attributes of `objects`, or both."""
        return self._render(
            'estimator',
            scene,
            state=self.entries(state.blank()) or 'nothing yet',
            history=self.history(history, scene),
            rooms=self._rooms(scene),
            situation=text_of(language_of(scene).situation(scene, self.names)),
            summary=summary,
            objects=objects,
        )

    def history(self, outcomes: Sequence[Outcome], scene: Scene) -> str:
        """Return all outcomes, a line each: `open(fridge1) Success`."""
        language, lines = language_of(scene), []
        for outcome in outcomes:
            call = language.as_planned(outcome.call, self.names)
            how = 'Success' if outcome.succeeded else 'Fail'
            if self.messages and not outcome.succeeded and outcome.message:
                how += f': {self.names.in_short(outcome.message)}'
            lines.append(f'{call} {how}')
        return '\n'.join(lines) or 'none yet'

    def entries(self, state: OpenState) -> str:
        return '\n'.join(
            f'{self.names.short(name)}: {" | ".join(words) or "[]"}'
            for name, words in state.attributes.items()
        )

    def lists(self, scene: Scene, history: Sequence[Outcome]) -> str:
        return text_of(language_of(scene).lists(scene, self.names, _taken(history)))

    def situation(self, scene: Scene) -> str:
        return text_of(language_of(scene).unlisted(scene, self.names))

    def _rooms(self, scene: Scene) -> str:
        seen = language_of(scene).lists(scene, self.names)
        return text_of({ROOMS: seen[ROOMS]}) if ROOMS in seen else ''

    def _render(self, name: str, scene: Scene, **values: object) -> str:
        return render(PACKAGE, f'{language_of(scene).name}/{name}', **values)


def _taken(history: Sequence[Outcome]) -> list[str]:
    taken = [item.call.args[0] for item in history if item.succeeded and item.call.skill in TAKING]
    return [*reversed(dict.fromkeys(reversed(taken)))]


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
    on_discarded: Callable[[LineDiscarded], None] = lambda line: None
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
        new = OpenState(state.blank().attributes, found.summary)
        room = MAX_STATE_LENGTH
        for word, attributes in found.attributes:
            name = self.names.name(word)
            length = sum(map(len, attributes))
            if name is not None and length <= room:
                room -= length
                new = new.with_attributes(name, attributes)
                continue
            why = f'There is nothing named {word[:60]}.'
            if name is not None:
                why = f'All attributes together have at most {MAX_STATE_LENGTH} characters.'
            self.on_discarded(LineDiscarded(f'{UPDATE}("{word[:60]}", ...)', why, refused=True))
        return new
