"""What FLTRNN and its baselines tell of a house where the goal is a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from house_player import Studio, cells, id_of, lines, play, player, told

from bbllm.core.instances import class_of
from bbllm.core.protocols import Embeddings
from bbllm.core.types import SkillCall
from bbllm.llm.lexical import LexicalEmbedder
from bbllm.planners.body_matching import MatchingBody
from bbllm.planners.fltrnn import FLTRNN
from bbllm.planners.fltrnn_telling import LONGEST, LONGEST_IN_WORDS, USEFUL, Telling
from bbllm.planners.goal_predicates import parse_goal
from bbllm.planners.memory_graph import MemoryGraph
from bbllm.worlds.household.world import HouseholdWorld

RINSE = 'rinse it, please'
HOUSES = ('cottage', 'family_flat', 'old_house', 'shared_flat', 'studio', 'townhouse')


class Meaning:
    """An embedder that knows what one rinses with, whatever the words look like."""

    name = 'meaning'

    def embed(self, texts: Sequence[str], *, on_wait: Any = None) -> Embeddings:
        vectors = tuple(self._vector(text) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)

    def _vector(self, text: str) -> tuple[float, ...]:
        if text in (RINSE, 'faucet', 'sink'):
            return (1.0, 0.0, 0.0)
        return (0.0, 1.0, 0.0) if text in ('rinse', 'please', 'rinseplease') else (0.0, 0.0, 1.0)


def graph_of(house: str = 'studio') -> MemoryGraph:
    return MemoryGraph(HouseholdWorld(house).observe())


def tell(sentence: str, longest: int = LONGEST, *, embedder: Any = None) -> tuple[str, list[str]]:
    """Return what is told of the studio, and the classes that are said to be left out."""
    telling = Telling(embedder or LexicalEmbedder(), longest=longest)
    text, _, left_out = telling.of(graph_of(), sentence, None).partition('\n# Left out, ')
    return text, left_out.partition(': ')[2].split(', ')


def classes_in(text: str) -> set[str]:
    return set(re.findall(r'(\w+)\(id:\d+\)', text))


@pytest.mark.parametrize('longest', [1300, LONGEST, LONGEST_IN_WORDS])
@pytest.mark.parametrize('sentence', ['Make toast.', 'put all the plates into the dishwasher'])
def test_no_more_is_told_than_finds_room_and_what_is_left_out_is_named(
    sentence: str, longest: int
) -> None:
    graph = graph_of()
    useful = {class_of(n) for n in graph.names if any(graph.affords(n, w) for w in USEFUL)}

    text, left_out = tell(sentence, longest)
    said = Telling(LexicalEmbedder(), longest=longest).of(graph, sentence, None)

    assert len(said) <= longest
    assert not classes_in(text) & {*left_out}
    assert useful - {'floor'} <= classes_in(text) | {*left_out}


def test_what_the_sentence_names_is_told_with_all_of_its_class_and_all_that_it_is_in() -> None:
    graph = graph_of()
    text, left_out = tell('put the milk and three plates on the coffee table', 1700)

    assert [
        shown for shown in map(id_of, ('milk', 'fridge', 'kitchen')) if shown not in text
    ] == []
    assert text.count('plate(id:') == len(graph.of_class('plate')) > 1
    assert f"'INSIDE', '{id_of('fridge')}'" in text
    assert re.search(rf'{re.escape(id_of("fridge"))}[^;]* (is|are) closed', text)
    assert 'toothbrush' in left_out


def test_who_clears_a_table_is_told_of_what_is_on_it() -> None:
    (table,) = graph_of().of_class('kitchentable') or graph_of().of_class('coffeetable')
    on_it = [n for n in graph_of().names if ('on', table) in graph_of().places(n)]

    text, _ = tell(f'clear the {class_of(table).replace("table", " table")}', 1700)

    assert on_it
    assert {class_of(name) for name in on_it} <= classes_in(text)


def test_an_embedder_that_knows_meanings_brings_what_the_words_do_not_spell() -> None:
    text, left_out = tell(RINSE, 1300, embedder=Meaning())

    assert {'faucet', 'sink'} <= classes_in(text)
    assert 'book' in left_out
    telling = Telling(Meaning())
    first = telling.nearest_first(graph_of(), RINSE)[:2]
    assert {class_of(name) for name in first} == {'faucet', 'sink'}


def test_one_of_each_class_comes_before_a_second_that_nobody_speaks_of() -> None:
    names = Telling(LexicalEmbedder()).nearest_first(graph_of(), 'xyzzy')
    n_classes = len({class_of(name) for name in names})

    assert len({class_of(name) for name in names[:n_classes]}) == n_classes
    assert len(names) > n_classes


def test_of_one_class_what_is_at_hand_comes_before_what_is_shut_in() -> None:
    graph = graph_of('family_flat')
    names = Telling(LexicalEmbedder()).nearest_first(graph, 'read a book, drink from a mug')

    for word in ('mug', 'plate'):
        shut = [graph.closed_around(n) is not None for n in names if class_of(n) == word]
        assert True in shut and False in shut
        assert all(first <= second for first, second in pairwise(shut)), word


@pytest.mark.parametrize('house', HOUSES)
def test_who_is_told_no_classes_is_told_of_one_of_each_that_is_taken_filled_or_switched(
    house: str,
) -> None:
    graph = graph_of(house)
    words = ('grabbable', 'containers', 'has_switch')
    wanted = {class_of(n) for n in graph.names if any(graph.affords(n, w) for w in words)}
    telling = Telling(LexicalEmbedder(), longest=LONGEST_IN_WORDS)

    text = telling.of(graph, 'Get wine glass and juice, place them on desk.', None)

    assert wanted <= classes_in(text)


def test_a_goal_in_predicates_tells_all_of_its_classes_and_names_nothing_else() -> None:
    goal = 'on_milk_coffeetable: 1'
    predicates = parse_goal(goal, ('milk', 'coffeetable'))

    text = Telling(LexicalEmbedder(), longest=10).of(graph_of(), goal, predicates)

    assert classes_in(text) >= {'milk', 'fridge', 'kitchen', 'coffeetable'}
    assert 'Left out' not in text and 'juice' not in text


def test_what_is_held_is_told_whatever_the_sentence_says() -> None:
    graph = graph_of()
    (plum, *_) = graph.of_class('plum')
    graph.apply(SkillCall('grab', (plum,)))

    text = Telling(LexicalEmbedder(), longest=1700).of(graph, 'switch on the tv', None)

    assert "'HELD', 'hand'" in text and 'plum' in classes_in(text)


def test_the_body_s_embedder_chooses_for_a_sub_goal_in_words() -> None:
    model = player(f'subgoal{{{RINSE}}}', lambda prompt: lines())
    body = MatchingBody(Meaning())

    play(lambda brain, _: FLTRNN(brain, body), model, 'do it', Studio())

    prompt = cells(model)[0]
    assert 'faucet(id:' in told(prompt) and 'book(id:' not in told(prompt)
    assert '\n# Left out, as far from the goal: ' in prompt
