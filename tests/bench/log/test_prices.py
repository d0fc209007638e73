"""Money: only where it is known, and by the user's own table."""

import dataclasses
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.events import ModelCall
from bbllm.core.paths import config_dir
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.body.mapping import MappingMethod, body_llm_name
from bbllm.planners.common.matching import matching_name
from bbllm.testing import ScriptedModel
from bbllm_bench.log.prices import asked_model, cost_of, load_prices

PRICES = {'gpt-x': (2.0, 10.0)}
ASKED = {'brain': 'gpt-x', 'body': 'gpt-x'}


def call(model: str = 'gpt-x', prompt: int = 1_000_000, completion: int = 100_000) -> ModelCall:
    return ModelCall(role='brain', model=model, prompt_tokens=prompt, completion_tokens=completion)


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / 'prices.yaml'
    path.write_text(text)
    return path


BODY = ModelCall(role='body', model='gpt-x')


@pytest.mark.parametrize(
    ('calls', 'asked', 'cost'),
    [
        ([call(), call()], ASKED, 6.0),
        # A model is found by the name that was asked for too, as reports have it.
        ([call('gpt-x-2026-01-01')], ASKED, 3.0),
        ([call('gpt-x-2026-01-01')], {'brain': 'replay of gpt-x'}, 3.0),
        ([call('gpt-x-2026-01-01')], {'brain': 'replay of gpt-x (text)'}, 3.0),
        ([call('gpt-x-2026-01-01')], {'brain': 'gpt-x (schema)'}, 3.0),
        # It is not known where one model has no price, or the server of a role never counted.
        ([call(), call('other')], {'brain': 'other'}, None),
        ([call(prompt=0, completion=0)], ASKED, None),
        ([call(), BODY], ASKED, None),
        ([call(), BODY, dataclasses.replace(BODY, prompt_tokens=500_000)], ASKED, 4.0),
        # A call that failed needs no price, and models of this program take no tokens.
        ([], ASKED, 0),
        ([call(), call('other', 0, 0)], {}, 3.0),
        ([call(), ModelCall(role='body', model='offline')], ASKED, 3.0),
        ([call(), ModelCall(role='body', model='lexical')], ASKED, 3.0),
    ],
)
def test_the_cost_is_that_of_all_tokens_or_not_known(
    calls: list[ModelCall], asked: dict[str, str], cost: float | None
) -> None:
    assert cost_of(calls, PRICES, asked) == cost
    assert cost_of(calls, {}, asked) is None
    assert cost_of([call('gpt-x')], {'gpt-x': (1.0, 0.0), 'other': (9.0, 9.0)}, {}) == 1.0


def test_names_are_taken_apart_as_they_are_made() -> None:
    model = ScriptedModel([], name='gpt-x')

    assert {asked_model(body_llm_name(model, use)) for use in [*MappingMethod][:3]} == {'gpt-x'}
    assert asked_model(matching_name(LexicalEmbedder())) == LexicalEmbedder().name
    assert asked_model('') == ''


def test_a_table_is_read(tmp_path: Path) -> None:
    path = table(tmp_path, 'currency: EUR\nmodels:\n  gpt-x: {prompt: 2, completion: 10.0}\n')

    prices = load_prices(path)

    assert prices.currency == 'EUR'
    assert prices.by_model == PRICES


def test_the_example_can_be_read_and_invents_no_price() -> None:
    prices = load_prices(config_dir() / 'prices.example.yaml')

    assert set(prices.by_model.values()) == {(0.0, 0.0)}


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('models: {a: {prompt: 1, completion: 2}}', 'currency: Field required'),
        ('currency: USD\nmodels: {a: {prompt: -1, completion: 1}}', 'models.a.prompt'),
        ('currency: USD\nmodels: {a: {prompt: "1", completion: 1}}', 'models.a.prompt'),
        ('currency: USD\nmodels: {a: {prompt: .nan, completion: 1}}', 'models.a.prompt'),
        ('- 1', 'the file'),
        ('a: [', 'not valid YAML in line 1'),
    ],
)
def test_a_wrong_table_is_refused_with_the_entry_and_the_form(
    tmp_path: Path, text: str, expected: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_prices(table(tmp_path, text))

    assert expected in str(caught.value)
    assert 'currency: USD' in str(caught.value)
