"""
An episode as OpenTelemetry spans, by the GenAI semantic conventions.

    invoke_agent brain_body            the episode
    ├── chat gpt-x                     a call of a model (`embeddings` of an embedder)
    └── step 0                         a step of the plan
        ├── chat gpt-x
        └── execute_tool pick          a call of a skill

Names of `gen_ai.*` are those of the conventions as of November 2026 (status Development); what
they have no name for is `bbllm.*`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from bbllm.core.events import (
    IMAGE,
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCall,
    ModelReplied,
    PlanGrown,
    PlanMade,
    RepairBegun,
    StepBegun,
    StepFailed,
    StepPassed,
)
from bbllm.core.registry import find_provider
from bbllm.core.types import Outcome, SkillCall

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

Attributes = Mapping[str, str | int | float | bool]
ENDED_WELL = (Ending.FINISHED, Ending.PARTLY_DONE)


class EpisodeSpans:
    """
    A sink that makes spans of the events of one episode.

    With *content*, spans have the task, steps, prompts and replies; otherwise none of them.
    """

    def __init__(self, tracer: Tracer, *, content: bool = False):
        self._tracer = tracer
        self._content = content
        self._models: dict[str, str] = {}
        """By role, the name that the model was asked by."""
        self._episode: Span | None = None
        self._step: Span | None = None
        self._tool: Span | None = None
        self._chats: dict[str, tuple[Span, int]] = {}
        """By role, the last call and when it ended [ns]; its reply follows it."""

    def __call__(self, event: Event) -> None:
        now = _ns(event.stamp_s)
        match event.data:
            case EpisodeStarted() as start:
                self._begin(start, now)
            case ModelCall() as call:
                self._end_chat(call.role)
                self._chats[call.role] = self._chat(call, now), now
            case ModelReplied(role, text):
                self._end_chat(role, text)
            case StepBegun(index, text):
                self._end_step(now)
                self._step = self._start(f'step {index}', now, {'bbllm.step.index': index})
                self._add(self._step, {'bbllm.step.text': text})
            case PlanMade(steps=steps, start=first, revision=revision) as made:
                if not isinstance(made, PlanGrown):
                    self._end_step(now)
                if self._episode is not None:
                    counts = {'bbllm.plan.revision': revision, 'bbllm.plan.steps': len(steps)}
                    self._episode.add_event('plan', {**counts, 'bbllm.plan.start': first}, now)
            case SkillCall() as call:
                names = {'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': call.skill}
                self._tool = self._start(f'execute_tool {call.skill}', now, names)
                self._add(self._tool, {'gen_ai.tool.call.arguments': json.dumps(call.args)})
            case Outcome() as outcome:
                self._end_tool(outcome, now)
            case StepPassed():
                self._mark({'bbllm.step.passed': True})
            case RepairBegun(is_loop=True) | StepFailed():
                cause = event.data.cause
                self._mark({'bbllm.step.failed': True}, cause)
            case EpisodeEnded() as end:
                self._end(end, now)

    # --- the episode and its steps ----------------------------------------------------------

    def _begin(self, start: EpisodeStarted, now: int) -> None:
        self._models = {'brain': start.brain, 'body': start.body}
        self._episode = self._tracer.start_span(
            f'invoke_agent {start.planner}',
            attributes={
                'gen_ai.operation.name': 'invoke_agent',
                'gen_ai.provider.name': _provider(start.brain),
                'gen_ai.agent.name': start.planner,
                'gen_ai.agent.version': start.version,
                'gen_ai.conversation.id': start.episode_id,
                'gen_ai.request.model': start.brain,
            },
            start_time=now,
        )
        self._add(self._episode, {'gen_ai.input.messages': _messages(('user', start.task))})

    def _end(self, end: EpisodeEnded, now: int) -> None:
        for role in tuple(self._chats):
            self._end_chat(role)
        if self._tool is not None:  # the call was cut off
            self._tool.end(now)
        self._end_step(now)
        if self._episode is None:
            return
        self._episode.set_attribute('bbllm.ending', end.ending.name)
        if end.goal:
            self._episode.set_attribute('bbllm.goal', end.goal)
        if end.ending not in ENDED_WELL:
            self._fail(self._episode, end.error or end.ending.name, end.message)
        self._episode.end(now)
        self._episode = None

    def _end_step(self, now: int) -> None:
        if self._step is not None:
            self._step.end(now)
        self._step = None

    def _mark(self, attributes: Attributes, cause: str = '') -> None:
        if self._step is not None:
            self._step.set_attributes(attributes)
            if cause:
                self._fail(self._step, 'step_failed', cause)

    # --- calls of models and skills ---------------------------------------------------------

    def _chat(self, call: ModelCall, now: int) -> Span:
        asked = self._models.get(call.role, call.model)
        operation = 'chat' if call.prompt_chars else 'embeddings'
        attributes: dict[str, str | int | float | bool] = {
            'gen_ai.operation.name': operation,
            'gen_ai.provider.name': _provider(asked),
            'gen_ai.request.model': asked,
            'gen_ai.response.model': call.model,
            'bbllm.role': call.role,
            'bbllm.retries': call.retries,
        }
        counts = {
            'gen_ai.usage.input_tokens': call.prompt_tokens,
            'gen_ai.usage.output_tokens': call.completion_tokens,
            'gen_ai.usage.cache_read.input_tokens': call.cached_tokens,
            'gen_ai.usage.reasoning.output_tokens': call.reasoning_tokens,
        }
        attributes |= {name: number for name, number in counts.items() if number}
        begun = now - _ns(call.duration_s)
        span = self._start(f'{operation} {asked}', begun, attributes, SpanKind.CLIENT)
        sent = [
            (item.role, item.text) for item in call.prompt if item.role not in ('schema', IMAGE)
        ]
        if sent:
            self._add(span, {'gen_ai.input.messages': _messages(*sent)})
        if call.error:
            self._fail(span, call.error.partition(':')[0], call.error)
        return span

    def _end_chat(self, role: str, reply: str = '') -> None:
        if (pending := self._chats.pop(role, None)) is None:
            return
        span, ended = pending
        if reply:
            self._add(span, {'gen_ai.output.messages': _messages(('assistant', reply))})
        span.end(ended)

    def _end_tool(self, outcome: Outcome, now: int) -> None:
        span, self._tool = self._tool, None
        if span is None:
            return
        span.set_attribute('bbllm.status', outcome.status.name)
        span.set_attribute('bbllm.robot_s', outcome.duration_s)
        if not outcome.succeeded:
            self._fail(span, outcome.code.name, outcome.message)
        span.end(now)

    # --- spans ------------------------------------------------------------------------------

    def _start(
        self, name: str, begun: int, attributes: Attributes, kind: SpanKind = SpanKind.INTERNAL
    ) -> Span:
        parent = self._step or self._episode
        context = set_span_in_context(parent) if parent is not None else None
        return self._tracer.start_span(
            name, context, kind=kind, attributes=dict(attributes), start_time=begun
        )

    def _add(self, span: Span, attributes: Attributes) -> None:
        """Add what people or models wrote, where that is wanted."""
        if self._content:
            span.set_attributes(dict(attributes))

    def _fail(self, span: Span, kind: str, message: str) -> None:
        span.set_attribute('error.type', kind)
        # A message may quote a reply or the task.
        span.set_status(Status(StatusCode.ERROR, message if self._content else None))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _provider(model: str) -> str:
    """Return the protocol that a model is asked by, or `bbllm` for what is built in."""
    with suppress(LookupError):
        return 'bbllm' if find_provider(model) is not None else 'openai'
    return 'openai'


def _messages(*messages: tuple[str, str]) -> str:
    """Return messages in the JSON form of the conventions."""
    return json.dumps(
        [
            {'role': role, 'parts': [{'type': 'text', 'content': text}]}
            | ({'finish_reason': 'stop'} if role == 'assistant' else {})
            for role, text in messages
        ],
        ensure_ascii=False,
    )
