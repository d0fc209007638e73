"""From recorded episodes to pairs, and from pairs to files and back."""

import json
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm.llm.recording.replay import Exchange
from bbllm_bench.benchmarks.finetuning.folder import ALPACA, CHAT, PAIRS, read_pairs, write_pairs
from bbllm_bench.benchmarks.finetuning.pairs import Drawn, Pair, draw_pairs
from tests.benchmarks import made_pairs as made


def draw(talk: list[Exchange]) -> Drawn:
    task = made.data_task()
    case: Any = made.data_case(task)
    return draw_pairs('lighter-t000-k4', task, case, talk)


def test_every_exchange_of_an_episode_that_went_well_is_a_pair() -> None:
    talk = made.conversation()

    drawn = draw(made.exchanges(talk))

    assert drawn.refused == ()
    assert [pair.prompt for pair in drawn.pairs] == [asked for asked, _ in talk]
    assert [pair.output for pair in drawn.pairs] == [answer for _, answer in talk]
    assert [pair.id for pair in drawn.pairs] == [f'lighter-t000-k4/{i}' for i in range(4)]
    assert drawn.pairs[0].instruction.splitlines()[0].startswith('Task: ')
    assert drawn.pairs[0].input.startswith('Current: [')
    assert len(drawn.pairs[0].masses_kg) == 2


def test_an_answer_whose_action_failed_is_no_example() -> None:
    slipped = made.weighing(made.WEIGHED[:2], 'red_cube slipped out of the hand.')

    drawn = draw(made.exchanges(made.conversation(slipped)))

    assert [pair.id[-1] for pair in drawn.pairs] == ['0', '2', '3']
    ((rule, found),) = drawn.refused
    assert rule == 'an action failed'
    assert 'slipped out of the hand' in found


@pytest.fixture
def pairs() -> list[Pair]:
    return list(draw(made.exchanges(made.conversation())).pairs)


def test_the_files_have_the_forms_that_trainers_take(pairs: list[Pair], tmp_path: Path) -> None:
    write_pairs(pairs, tmp_path)

    alpaca = json.loads((tmp_path / ALPACA).read_text())
    chats = [json.loads(line) for line in (tmp_path / CHAT).read_text().splitlines()]
    assert {frozenset(entry) for entry in alpaca} == {
        frozenset({'instruction', 'input', 'output'})
    }
    assert len(alpaca) == len(chats) == 4
    for (asked, answer), entry, chat in zip(made.conversation(), alpaca, chats, strict=True):
        assert f'{entry["instruction"]}\n{entry["input"]}' == asked
        assert chat == {
            'messages': [
                {'role': 'user', 'content': asked},
                {'role': 'assistant', 'content': answer},
            ]
        }


@pytest.mark.parametrize('name', [ALPACA, CHAT, PAIRS])
def test_a_file_reads_back(name: str, pairs: list[Pair], tmp_path: Path) -> None:
    write_pairs(pairs, tmp_path)

    read = read_pairs(tmp_path / name)

    if name == PAIRS:
        assert read == pairs
    assert [(p.prompt, p.output) for p in read] == [(p.prompt, p.output) for p in pairs]


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('', 'is empty'),
        ('{"a": 1}', 'what is no pair'),
        ('{"messages": [{"role": "user", "content": "Hello"}]}', 'what is no pair'),
        (
            '{"messages": [{"role": "user", "content": "Hello"}, '
            '{"role": "assistant", "content": "Hello"}]}',
            'is no pair',
        ),
        ('[{"instruction": "Do it."}]', 'what is no pair'),
        ('[1, 2', 'what is no pair'),
        ('\x00\ufffd', 'what is no pair'),
    ],
)
def test_a_file_of_another_form_is_refused_with_what_would_do(
    text: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / 'some.json'
    path.write_text(text)

    with pytest.raises(ConfigError, match=why) as error:
        read_pairs(path)

    assert 'alpaca.json, chat.jsonl or pairs.jsonl' in str(error.value)
