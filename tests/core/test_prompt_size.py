"""How many tokens a prompt has at least and at most, and a server that read only a part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_episodes import EchoModel, OneCubeWorld, ScriptedPlanner, start

from bbllm.core.events import EventKind
from bbllm.core.prompt_size import cut_of, fewest_tokens, most_tokens, prompt_limit
from bbllm.core.protocols import EpisodeContext, Message, Usage, World

NUMBERS = 'red_cube: [0.450 -0.100 0.020 0.000 0.000 0.131 0.991] EEF: [0.300 0.000 0.400]\n'
LONG = NUMBERS * 60


@pytest.mark.parametrize(
    ('text', 'tokens'),
    [
        # Counted with Mistral's SentencePiece model (v1), which has a token for each digit.
        (NUMBERS * 4, 284),
        ('Put the lighter block on the heavier one, and stop before it falls.\n', 17),
    ],
)
def test_what_a_tokenizer_makes_of_a_text_is_between_the_two(text: str, tokens: int) -> None:
    assert fewest_tokens(text) <= tokens <= 1.05 * most_tokens(text)


@given(st.text(max_size=200))
def test_no_text_has_fewer_at_most_than_at_least(text: str) -> None:
    assert fewest_tokens(text) <= most_tokens(text) <= 2 * len(text)


@pytest.mark.parametrize(
    ('content', 'usage', 'is_cut'),
    [
        (LONG, Usage(1024, 9), True),
        (LONG, Usage(most_tokens(LONG), 9), False),
        (LONG, Usage(fewest_tokens(LONG), 9), False),
        (LONG, Usage(0, 0), False),
        (LONG[:4000], Usage(1024, 9), False),
    ],
    ids=['cut', 'all of it', 'as few as can be', 'not counted', 'short'],
)
def test_a_prompt_is_cut_where_far_less_was_counted_than_it_can_have(
    content: str, usage: Usage, is_cut: bool
) -> None:
    assert bool(cut_of([Message('user', content)], usage)) is is_cut


def test_an_episode_says_once_that_its_prompts_are_cut_and_what_to_set() -> None:
    run = start()
    model = run.model(EchoModel(), 'brain')

    def script(world: World, context: EpisodeContext) -> None:
        for text in ('short', LONG, LONG):
            model.complete([Message('user', text)])

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    (warning,) = (e.data.text for e in episode.events if e.kind is EventKind.WARNING)
    assert warning.startswith('echo counted 7 tokens of a prompt that has ')
    assert 'OLLAMA_CONTEXT_LENGTH' in warning
    assert '`context_tokens`, section `brain` of config/llm.yaml' in warning


def test_a_model_in_an_episode_tells_the_limit_of_the_one_within() -> None:
    class Limited(EchoModel):
        prompt_limit_tokens = 3000

    assert prompt_limit(start().model(Limited(), 'brain')) == 3000
    assert prompt_limit(start().model(EchoModel(), 'brain')) is None
