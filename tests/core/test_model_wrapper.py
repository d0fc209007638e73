"""A model around another one forwards all that it does not change."""

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import (
    ChatModel,
    ModelRequest,
    OnText,
    Reply,
    Situation,
    check_model,
    in_episode,
    refusal,
)
from bbllm.core.types import Task
from bbllm.testing import Pace, PacedModel, ScriptedModel


class Situated(ScriptedModel):
    """Refuses all planners; in an episode, it replies with the task."""

    def in_episode(self, situation: Situation) -> ChatModel:
        return ScriptedModel([situation.task.instruction])

    def refusal(self, planner: str) -> str:
        return f'not {planner}'


class Shouting(ModelWrapper):
    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        return Reply(text=super().ask(request, on_text).text.upper(), model=self.name)


def test_a_wrapper_forwards_what_it_does_not_change() -> None:
    inner = Situated(['0: wait'], name='m', supports_schema=True, prompt_limit_tokens=90)
    texts: list[str] = []

    wrapper = Shouting(PacedModel(inner, Pace(first_token_s=0.0, tokens_per_s=1e6)))

    assert (wrapper.name, wrapper.supports_schema, wrapper.prompt_limit_tokens) == ('m', True, 90)
    assert wrapper.streams
    assert refusal(wrapper, 'lang_prompt') == 'not lang_prompt'
    assert wrapper.ask(ModelRequest.of('plan'), texts.append).text == '0: WAIT'
    assert inner.requests == [ModelRequest.of('plan')]
    situation = Situation(task=Task('1', 'stack'), planner='lang_prompt')
    assert in_episode(wrapper, situation).ask(ModelRequest.of('plan')).text == 'STACK'


def test_what_is_no_model_is_refused_with_what_to_write() -> None:
    class Older:
        name = 'older'
        supports_schema = False

        def complete(self) -> None: ...

    message = r'Older is no model: it has no `ask`.*`ask\(request, on_text=None\)`.*`complete'
    with pytest.raises(ConfigError, match=message):
        check_model(Older())
