"""Estimates of tokens, and how much of a prompt was sent before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.events import Ending, Episode, EventKind, Limits, ModelCall
from bbllm.core.prompt_size import SentPrompts, cut_of, fewest_tokens, most_tokens, prompt_limit
from bbllm.core.protocols import ChatModel, Usage
from bbllm_bench.oracle.model import offline
from tests.core.scripted_episodes import EchoModel, asking, play, start

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
    assert bool(cut_of([content], usage)) is is_cut


def test_an_episode_warns_once_that_its_prompts_are_cut_and_what_to_set() -> None:
    episode = prompted(['short', LONG, LONG], EchoModel())

    (warning,) = (e.data.text for e in episode.events if e.kind is EventKind.WARNING)
    assert warning.startswith('echo counted 7 tokens of a prompt that has ')
    assert 'OLLAMA_CONTEXT_LENGTH' in warning
    assert '`context_tokens`, section `brain` of config/llm.yaml' in warning


def test_a_model_in_an_episode_has_the_limit_of_the_one_within() -> None:
    class Limited(EchoModel):
        prompt_limit_tokens = 3000

    assert prompt_limit(start().model(Limited(), 'brain')) == 3000
    assert prompt_limit(start().model(EchoModel(), 'brain')) is None


PROMPT = 'Tidy up the table'
CALL = ModelCall(role='brain', model='echo')


def prompted(prompts: list[str], model: ChatModel, limits: Limits | None = None) -> Episode:
    """Play an episode whose planner sends some prompts."""
    run = start(limits)
    brain = run.model(model, 'brain')
    return play(*(asking(brain, prompt=prompt) for prompt in prompts), run=run)


@given(st.lists(st.text('ab', max_size=8), max_size=8))
def test_what_is_stable_is_the_longest_beginning_that_any_earlier_prompt_has(
    prompts: list[str],
) -> None:
    sent = SentPrompts()

    for i, prompt in enumerate(prompts):
        size = sent.add([prompt], CALL)

        begun = (n for n in range(len(prompt) + 1) for p in prompts[:i] if p[:n] == prompt[:n])
        assert size.stable_chars == max(begun, default=0)
        assert size.prompt_chars == len(prompt)


def test_calls_of_models_have_the_size_of_their_prompts() -> None:
    planning, estimating = 'You plan. Seen: ', 'You estimate. Done: '
    prompts = [planning + 'a', estimating + 'b', planning + 'ac']

    episode = prompted(prompts, EchoModel())

    assert [call.prompt_chars for call in episode.model_calls] == [17, 21, 18]
    # Under both prompts one says `You `; the third goes on from the first, and not the second.
    assert [call.stable_chars for call in episode.model_calls] == [0, 4, 17]


def test_where_no_server_counts_tokens_the_estimate_stands_for_them() -> None:
    (counted,) = prompted([PROMPT], EchoModel()).model_calls
    (silent,) = prompted([PROMPT], offline()).model_calls

    assert (counted.prompt_tokens, counted.size_tokens) == (7, 7)
    assert silent.prompt_tokens == 0
    assert silent.size_tokens == silent.sent_tokens == counted.sent_tokens > 0


@pytest.mark.parametrize('model', [EchoModel(), offline()])
def test_the_limit_of_tokens_holds_whether_or_not_the_server_counts(model: ChatModel) -> None:
    episode = prompted([PROMPT] * 9, model, Limits(tokens=8))

    assert episode.ending is Ending.OUT_OF_BUDGET
    used = [call.size_tokens + call.completion_tokens for call in episode.model_calls]
    assert sum(used[:-1]) < 8 <= sum(used)
