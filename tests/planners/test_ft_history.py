"""What an FT planner's model reads of its past, and how that is kept short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ParseError
from bbllm.planners.llm_pop.fine_tuned_grammar import FtAction
from bbllm.planners.llm_pop.fine_tuned_history import FtHistory, FtRound, parse_past, said_so
from bbllm.planners.llm_pop.grammar import Verb

PICK = FtAction(Verb.PICK, 'red_cube')
NUMBER = st.integers(-9999, 9999).map(lambda value: value / 1000)
VECTORS = st.tuples(*[NUMBER] * 26)
TRIED = st.lists(st.tuples(st.builds(FtAction, st.just(Verb.PICK), st.just('a')), VECTORS))
WORDS = st.text(st.characters(codec='ascii', categories=['L', 'N', 'P', 'Zs']), max_size=80)


def seen(force_n: float = 0.0) -> tuple[float, ...]:
    return (*[0.0] * 21, 0.0, 0.0, force_n, 0.02, 0.02)


def of_rounds(*rounds: FtRound, budget: int = 40_000) -> FtHistory:
    history = FtHistory(budget)
    for item in rounds:
        history.add(item)
    return history


def test_an_episode_that_did_nothing_yet_has_no_past() -> None:
    assert of_rounds().text() == 'None'
    assert parse_past('None') == ()


def test_a_round_has_words_actions_and_an_observation_for_each() -> None:
    text = of_rounds(FtRound('No.'), FtRound('Lift it.', (PICK,), (seen(-1.2),))).text()

    assert text.splitlines() == [
        'Round 1: [No.] [] []',
        f"Round 2: [Lift it.] [pick('red_cube')] [{'0.000, ' * 23}-1.200, 0.020, 0.020]",
    ]


@given(st.lists(st.tuples(WORDS, TRIED), max_size=4))
def test_a_past_reads_back_but_for_brackets_in_its_words(
    rounds: list[tuple[str, list[tuple[FtAction, tuple[float, ...]]]]],
) -> None:
    told = [
        FtRound(words, tuple(a for a, _ in tried), tuple(v for _, v in tried))
        for words, tried in rounds
    ]

    read = parse_past(of_rounds(*told).text())

    assert [item.actions for item in read] == [item.actions for item in told]
    assert [item.vectors for item in read] == [item.vectors for item in told]
    for item, (words, _) in zip(read, rounds, strict=True):
        assert item.words == ' '.join(words.replace('[', '(').replace(']', ')').split())


@pytest.mark.parametrize('line', ['Round 1: [No.] []', 'Round one: [] [] []', 'What?'])
def test_a_line_that_is_no_round_is_refused(line: str) -> None:
    with pytest.raises(ParseError, match='is no `Round <i>'):
        parse_past(line)


def test_a_past_that_is_too_long_tells_its_oldest_rounds_in_short_and_says_so_once() -> None:
    said: list[str] = []
    history = FtHistory(600, on_short=said.append)
    for force_n in (-1.0, -2.0, -3.0):
        history.add(FtRound(f'Weigh {force_n}.', (PICK,), (seen(force_n),)))

    first, second, third = history.text().splitlines()
    history.text()

    assert first == 'Round 1: [Weigh -1.0. In short: pick red_cube force z -1.00] [] []'
    assert '] [pick' in second
    assert third.startswith("Round 3: [Weigh -3.0.] [pick('red_cube')] [0.000, ")
    assert len(said) == 1
    assert 'longer than the 600 characters' in said[0]


def test_what_failed_in_the_words_of_a_round_is_what_did_and_nothing_that_somebody_says() -> None:
    said = said_so('Failed: to think. In short: pick a force z -9.00', 'It\nslid.')

    assert said == 'failed: to think. in short: pick a force z -9.00 Failed: It slid.'
    assert said_so('All well.') == 'All well.'


def test_where_even_that_is_too_long_the_oldest_rounds_go_and_the_newest_stays_whole() -> None:
    rounds = [FtRound(f'Round of {"many " * 20}words.', (PICK,), (seen(),)) for _ in range(5)]

    text = of_rounds(*rounds, budget=10).text()

    assert text == rounds[-1].in_full(5)


def test_a_past_shrinks_until_only_the_newest_round_is_left() -> None:
    history = of_rounds(*[FtRound('Weigh.', (PICK,), (seen(),)) for _ in range(4)])
    lengths = [len(history.text())]

    while history.shrink():
        lengths.append(len(history.text()))

    assert lengths == sorted(set(lengths), reverse=True)
    assert history.text().splitlines()[-1].startswith('Round 4: [Weigh.] [pick')
