"""Body-LLM, which turns one step of a plan into one call, and a Body for each mapping method."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bbllm.core.cancel import CancelToken
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.protocols import (
    Body,
    ChatModel,
    Embedder,
    MappedStep,
    Pass,
    PromptRequest,
    streams,
)
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.llm.models.factory import LlmConfig, Models, make_models
from bbllm.planners.body.prompting import execution_prompt
from bbllm.planners.common.call_grammar import CallForm, body_schema, parse_calls, settled
from bbllm.planners.common.matching import MatchingBody, Vector, matching_name
from bbllm.planners.common.methods import MappingMethod
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.step_grammar import call_of, is_call
from bbllm.planners.domains.languages import language_of


class BodyLLM:
    """
    The paper's second model, with its execution prompt; see `need_schema`.

    In a household it answers in classes.
    """

    def __init__(self, model: ChatModel, method: MappingMethod = MappingMethod.AUTO):
        self.name = body_llm_name(model, method)
        self._model = model
        self._method = method
        self._singly = False
        if method is MappingMethod.SCHEMA:
            need_schema(model)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Ask for one step, even if it already is a call; see `Body` and `map_ahead`."""
        mapped = self._ask((step,), (step,), scene, None)[step.index]
        if isinstance(mapped, ParseError):
            raise mapped
        return mapped if isinstance(mapped, Pass) else settled(mapped, scene)

    @property
    def overlaps(self) -> bool:
        """Whether the model may be asked while the arm moves, and for several steps at once."""
        return streams(self._model) and not self._singly

    def map_ahead(
        self, steps: Sequence[PlanStep], scene: Scene, *, cancel: CancelToken | None = None
    ) -> Sequence[MappedStep | None]:
        """
        Read the first step if it is a call, else ask for it and all later steps that are none.

        A model whose reply for several steps cannot be read, also when asked again, is asked for
        one step at a time from then on. Raises ConfigError if the server refuses a required
        schema; see `OverlappingBody`.
        """
        first = steps[0]
        try:
            if (call := call_of(first.text, scene)) is not None:
                return [call]
            later = () if self._singly else steps[1:]
            wanted = (first, *(step for step in later if not is_call(step.text, scene)))
            mapped = self._ask_or_singly(steps, wanted, scene, cancel)
        except ParseError as error:
            return [error]
        return [mapped.get(step.index) for step in steps]

    def _ask_or_singly(
        self,
        steps: Sequence[PlanStep],
        wanted: Sequence[PlanStep],
        scene: Scene,
        cancel: CancelToken | None,
    ) -> Mapping[int, MappedStep]:
        try:
            return self._ask(steps, wanted, scene, cancel)
        except ParseError:
            if len(wanted) == 1:
                raise
        self._singly = True
        return self._ask(steps, wanted[:1], scene, cancel)

    def _ask(
        self,
        steps: Sequence[PlanStep],
        wanted: Sequence[PlanStep],
        scene: Scene,
        cancel: CancelToken | None,
    ) -> Mapping[int, MappedStep]:
        """Return what some steps of a plan become; errors of single steps after a second reply."""
        in_json = self._method is not MappingMethod.TEXT and self._model.supports_schema
        shown = language_of(scene).answer_scene(scene)
        form = CallForm(shown, tuple(step.index for step in wanted), in_json)
        n_replies = 0

        def read(text: str) -> Mapping[int, MappedStep]:
            nonlocal n_replies
            n_replies += 1
            calls = parse_calls(text, form)
            faults = [
                f'Step {number}: {mapped}'
                for number, mapped in calls.items()
                if isinstance(mapped, ParseError)
            ]
            if faults and n_replies == 1:
                raise ParseError(' '.join([*faults, form.text]))
            return calls

        calls = ask(
            self._model,
            execution_prompt(steps, scene, form),
            read,
            request=PromptRequest(
                kind='call', scene=scene, steps=tuple(wanted), text=wanted[0].text
            ),
            schema=None if self._method is MappingMethod.TEXT else body_schema(form),
            cancel=cancel,
        )
        if self._method is MappingMethod.SCHEMA:
            need_schema(self._model)
        return calls


def need_schema(model: ChatModel) -> None:
    """Raise ConfigError for a model that would invalidate a measurement of JSON schemas."""
    if not model.supports_schema:
        raise ConfigError(
            f'The Body {model.name} supports no JSON schema. Use `--mapping text` or '
            '`--mapping auto`, or name a model with `--body` whose server supports '
            'schemas or tools (and `schema: auto` in its section of config/llm.yaml).'
        )


def body_llm_name(model: ChatModel, method: MappingMethod) -> str:
    return model.name if method is MappingMethod.AUTO else f'{model.name} ({method.value})'


__all__ = ['MappingMethod', 'body_name', 'body_of', 'make_body', 'models_for']


def models_for(
    method: MappingMethod,
    config: LlmConfig,
    *,
    brain: str | None = None,
    body: str | None = None,
    record: Path | None = None,
    replay: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Models:
    """
    Build the models for a method; `brain` and `body` are a provider or the name of a model.

    With `embedding`, `body` names the embedding model, or is `lexical`. See `make_models` for the
    other arguments and errors; ConfigError if the Body does not support the method.
    """
    matching = method is MappingMethod.EMBEDDING
    chosen = {'brain': brain, 'embeddings' if matching else 'body': body}
    models = make_models(
        config,
        record=record,
        replay=replay,
        overrides={role: name for role, name in chosen.items() if name is not None},
        embedding=matching,
        environ=environ,
    )
    if method is MappingMethod.SCHEMA:
        need_schema(models.body)
    return models


def make_body(method: MappingMethod, run: EpisodeRun, models: Models) -> Body:
    """Build a Body whose model calls count for the episode; see `body_of`."""
    if method is MappingMethod.EMBEDDING:
        return MatchingBody(run.embedder(_needed(models.embedder), 'body'))
    return body_of(method, run.model(models.body, 'body'), None)


def body_of(
    method: MappingMethod,
    model: ChatModel,
    embedder: Embedder | None,
    *,
    known: dict[str, Vector] | None = None,
) -> Body:
    """Build a Body outside of an episode; raise ConfigError if it does not fit the method."""
    if method is not MappingMethod.EMBEDDING:
        return BodyLLM(model, method)
    return MatchingBody(_needed(embedder), known=known)


def body_name(method: MappingMethod, models: Models) -> str:
    """Return the name of the Body in reports: `gpt-4o (text)` or `lexical matching`."""
    if method is MappingMethod.EMBEDDING:
        return matching_name(_needed(models.embedder))
    return body_llm_name(models.body, method)


def _needed(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise ConfigError(
            'Steps are to be matched by embedding, but there is no embedder. Build the models '
            'with planners.body.mapping.models_for, or make_models(..., embedding=True).'
        )
    return embedder
