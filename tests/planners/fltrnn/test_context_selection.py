"""What FLTRNN and its baselines tell of a house where the goal is a sentence."""

import re
from typing import Any

import pytest

from bbllm.core.naming import class_of
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_planners.fltrnn.context_selection import (
    HERE,
    LEFT_OUT,
    LONGEST,
    LONGEST_IN_WORDS,
    MOST,
    NAMED,
    SOME,
    USEFUL,
    ContextSelector,
    is_useful,
    mentions,
)
from bbllm_planners.fltrnn.memory_graph import MemoryGraph
from bbllm_planners.fltrnn.prompting import (
    nameable,
)

HOUSES = ('cottage', 'family_flat', 'old_house', 'shared_flat', 'studio', 'townhouse')


def graph_of(house: str = 'studio') -> MemoryGraph:
    return MemoryGraph(HouseholdWorld(house).observe())


def context_of(
    sentence: str, longest: int = LONGEST, *, embedder: Any = None
) -> tuple[str, list[str]]:
    """Return what is told of the studio, and the classes that are said to be left out."""
    selector = ContextSelector(embedder or LexicalEmbedder(), longest=longest)
    whole, _, _ = selector.of(graph_of(), sentence, None).partition(f'\n{HERE}')
    text, _, left_out = whole.partition(f'\n{LEFT_OUT}')
    return text, left_out.split(', ')


def classes_in(text: str) -> set[str]:
    return set(re.findall(r'(\w+)\(id:\d+\)', text))


@pytest.mark.parametrize('longest', [1700, LONGEST, LONGEST_IN_WORDS])
@pytest.mark.parametrize('sentence', ['Make toast.', 'put all the plates into the dishwasher'])
def test_the_context_fits_its_limit_and_names_the_omitted_classes(
    sentence: str, longest: int
) -> None:
    graph = graph_of()
    useful = {class_of(n) for n in graph.names if any(graph.affords(n, w) for w in USEFUL)}

    text, left_out = context_of(sentence, longest)
    remark = ContextSelector(LexicalEmbedder(), longest=longest).of(graph, sentence, None)

    assert len(remark.partition(f'\n{HERE}')[0]) <= longest
    assert not classes_in(text) & {*left_out}
    others = useful - {'floor'} - classes_in(text)
    named = [word for word in left_out if word and ' ' not in word]
    assert len(named) == min(NAMED, len(others)) and others.issuperset(named)
    assert left_out[NAMED:] == [f'and {n} more classes' for n in [len(others) - NAMED] if n > 0]


@pytest.mark.parametrize('house', HOUSES)
def test_without_a_list_of_classes_the_context_has_one_of_each_useful_class(
    house: str,
) -> None:
    graph = graph_of(house)
    words = ('grabbable', 'containers', 'has_switch')
    wanted = {class_of(n) for n in graph.names if any(graph.affords(n, w) for w in words)}
    selector = ContextSelector(LexicalEmbedder(), longest=LONGEST_IN_WORDS)

    text = selector.of(graph, 'Get wine glass and juice, place them on desk.', None)

    assert wanted <= classes_in(text)


@pytest.mark.parametrize('house', HOUSES)
def test_the_classes_for_a_split_are_those_that_planning_prompts_can_show(house: str) -> None:
    graph = graph_of(house)

    listed = {*nameable(HouseholdWorld(house).observe())}

    rooms = {class_of(name) for name in graph.rooms}
    assert listed - rooms == {class_of(n) for n in graph.names if is_useful(graph, n)}
    assert rooms < listed and 'lightswitch' in listed and 'ceilinglamp' not in listed


def n_shown(text: str, word: str) -> int:
    return len(set(re.findall(rf'\b{word}\(id:\d+\)', text)))


@pytest.mark.parametrize('house', HOUSES)
def test_the_context_has_as_many_objects_as_the_sentence_names(
    house: str,
) -> None:
    graph = graph_of(house)
    plates = len(graph.of_class('plate'))

    text = ContextSelector(LexicalEmbedder(), longest=10).of(
        graph, 'Put two plates in the fridge, and all forks on the kitchen table.', None
    )

    assert n_shown(text, 'plate') == min(2, plates)
    assert n_shown(text, 'cutleryfork') == len(graph.of_class('cutleryfork'))
    for word in ('fridge', 'kitchentable'):
        assert n_shown(text, word) == min(1, len(graph.of_class(word)))
    assert 'book' not in classes_in(text)


CLASSES = (
    *('bookshelf', 'box', 'breadslice', 'cereal', 'coffeetable', 'cutleryfork', 'cutleryknife'),
    *('filing_cabinet', 'fridge', 'fryingpan', 'kitchentable', 'loveseat', 'mouse', 'nightstand'),
    *('plate', 'sink', 'tv', 'waterglass', 'wine', 'wineglass', 'wallpictureframe'),
)


def named(sentence: str) -> dict[str, int]:
    return {
        name: mention.count for mention in mentions(sentence, CLASSES) for name in mention.classes
    }


@pytest.mark.parametrize(
    ('sentence', 'wanted'),
    [
        ('Put two forks in the fridge.', {'cutleryfork': 2, 'fridge': 1}),
        ('put 5 plates and a fork away', {'plate': 5, 'cutleryfork': 1}),
        ('three clean plates', {'plate': 3}),
        ('both knives', {'cutleryknife': 2}),
        ('a pair of knives', {'cutleryknife': 2}),
        ('the plates', {'plate': SOME}),
        ('every plate', {'plate': MOST}),
        ('all of the plates, and forks', {'plate': MOST, 'cutleryfork': SOME}),
        ('1000000 plates', {'plate': MOST}),
        ('on any of the sinks', {'sink': 1}),
        ('two boxes of cereal', {'box': 2, 'cereal': 2}),
        ('three objects from the kitchen table', {'kitchentable': 1}),
        ('two, and then the plate', {'plate': 1}),
    ],
)
def test_a_sentence_states_how_many_are_meant(sentence: str, wanted: dict[str, int]) -> None:
    assert named(sentence) == wanted


@pytest.mark.parametrize(
    ('words', 'classes'),
    [
        ('a water glass', 'waterglass'),
        ('wine', 'wine'),
        ('the wine glass', 'wineglass'),
        ('glasses', 'waterglass wineglass'),
        ('the table', 'coffeetable kitchentable'),
        ('the wall picture frames', 'wallpictureframe'),
        ('filing cabinet', 'filing_cabinet'),
        ('filing_cabinet', 'filing_cabinet'),
        ('slices of toast', 'breadslice'),
        ('shelves', 'bookshelf'),
        ('pans', 'fryingpan'),
        ('watch TV', 'tv'),
        ('eat and use it', ''),
    ],
)
def test_a_class_is_named_by_its_words_or_by_what_it_ends_with(words: str, classes: str) -> None:
    assert {*named(words)} == {*classes.split()}
