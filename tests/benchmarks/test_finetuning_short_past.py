"""Pairs whose history is shortened, as planners do it, stand up to the same checks."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bbllm.planners.common.model_planner import PromptHistory
from bbllm.planners.llm_pop.fine_tuned import (
    HISTORY,
    FtRound,
    Question,
    Vector,
)
from bbllm.planners.llm_pop.fine_tuned_grammar import parse_reply
from bbllm_bench.benchmarks.finetuning.collected import Checked
from bbllm_bench.benchmarks.finetuning.pairs import Pair, split_prompt
from tests.benchmarks import made_pairs as made
from tests.benchmarks.made_pairs import look

FULL = 100_000
LIFTED = look((0.45, -0.10, 0.100), hand=made.OVER_RED, holds_kg=0.08, opening_m=0.040)
PLACED = look(hand=made.OVER_RED)
BLUE_UP = made.WEIGHED[2]
BLUE_DOWN = made.WEIGHED[3]
ON_BLUE = look((0.50, 0.15, 0.060), hand=(0.50, 0.15, 0.152))
LIFT = "EXPLAIN: Lift one.\nACTION: [pick('red_cube')]"
WAIT = 'EXPLAIN: Feel again.\nACTION: [wait()]'
SWAP = (
    'EXPLAIN: Now the other.\nACTION: [place([0.45, -0.1, 0.032], [1, 0, 0, 0]), '
    "pick('blue_cube')]"
)
DOWN = "EXPLAIN: Put it back.\nACTION: [place('blue_cube', [0.5, 0.15, 0.032], [1, 0, 0, 0])]"
TALK: tuple[tuple[str, tuple[Vector, ...]], ...] = (
    (LIFT, (LIFTED,)),
    (WAIT, (LIFTED,)),
    (SWAP, (PLACED, BLUE_UP)),
    (DOWN, (BLUE_DOWN,)),
    (made.SOLVE, (LIFTED, ON_BLUE)),
)
"""Answers and what was observed; between all but the last two there is something in the hand."""


def text_of(rounds: list[FtRound], budget: int) -> str:
    history = PromptHistory(HISTORY, budget)
    for item in rounds:
        history.add(item)
    return history.text()


def pairs_of(
    budget: int, talk: tuple[tuple[str, tuple[Vector, ...]], ...] = TALK, **changes: object
) -> Iterator[Pair]:
    """Yield a pair for each question of the talk, with no more history than that."""
    no, yes = 'EXPLAIN: No. Not yet.\nACTION: <nooutput>', made.KNOWN
    rounds: list[FtRound] = []
    now = made.START
    for i, (said, seen) in enumerate(talk):
        last = i == len(talk) - 1
        asked = [(Question.ENOUGH, yes if last else no)]
        asked.append((Question.SOLVE if last else Question.GATHER, said))
        for question, answer in asked:
            prompt = made.prompt(question, now).replace('None', text_of(rounds, budget))
            instruction, given = split_prompt(prompt)
            masses = made.MASSES_KG
            yield replace(
                Pair(instruction=instruction, input=given, output=answer, masses_kg=masses),
                **changes,
            )
            reply = parse_reply(answer)
            if reply.actions:
                rounds.append(FtRound(reply.explanation, reply.actions, seen))
                now = seen[-1] if seen else now
            else:
                rounds.append(FtRound(reply.explanation))


def faults(pairs: Iterator[Pair]) -> dict[str, str]:
    checked = Checked()
    checked.take(pairs)
    return checked.examples


@pytest.mark.parametrize('budget', [FULL, *range(1900, 0, -300), 0])
def test_however_short_the_history_is_good_pairs_are_good(budget: int) -> None:
    assert faults(pairs_of(budget)) == {}
    assert faults(pairs_of(budget, masses_kg={})) == {}


def with_answer(budget: int, answer: str) -> dict[str, str]:
    """Give another answer to the question that is asked while blue_cube is in the hand."""
    pair = list(pairs_of(budget))[7]
    assert 'find out' in pair.instruction
    return faults(iter([replace(pair, output=answer)]))


@pytest.mark.parametrize('budget', [FULL, 700, 0])
def test_what_is_in_the_hand_is_known_of_a_shortened_history_too(budget: int) -> None:
    pick = "EXPLAIN: Lift.\nACTION: [pick('red_cube')]"
    place = "EXPLAIN: Down.\nACTION: [place('red_cube', [0.45, -0.1, 0.032], [1, 0, 0, 0])]"

    assert with_answer(budget, DOWN) == {}
    assert list(with_answer(budget, pick)) == ['full hand']
    assert list(with_answer(budget, place)) == ['empty hand']


@pytest.mark.parametrize('budget', [FULL, 700, 0])
def test_what_cannot_have_been_is_refused_in_what_is_told_in_full(budget: int) -> None:
    far = look(blue=(0.50, 0.15, 0.100), hand=made.OVER_RED, holds_kg=0.15, opening_m=0.040)
    slid = look((0.45, -0.05, 0.020), hand=made.OVER_RED)
    changed = [
        ((SWAP, (PLACED, far)), 'block away from the hand'),
        ((SWAP, (slid, BLUE_UP)), 'placed elsewhere'),
    ]

    for item, rule in changed:
        talk = (*TALK[:2], item)
        no = (made.SOLVE, ())
        assert rule in faults(iter(list(pairs_of(budget, (*talk, no)))[-2:]))
