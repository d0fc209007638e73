"""Which classes a sentence names, and of how many things it speaks."""

from __future__ import annotations

import pytest

from bbllm.planners.fltrnn.named_classes import MOST, SOME, Mention, mentions

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
def test_the_sentence_says_how_many_are_meant(sentence: str, wanted: dict[str, int]) -> None:
    assert named(sentence) == wanted


@pytest.mark.parametrize(
    ('words', 'classes'),
    [
        ('a water glass', {'waterglass'}),
        ('wine', {'wine'}),
        ('the wine glass', {'wineglass'}),
        ('glasses', {'waterglass', 'wineglass'}),
        ('the table', {'coffeetable', 'kitchentable'}),
        ('the wall picture frames', {'wallpictureframe'}),
        ('filing cabinet', {'filing_cabinet'}),
        ('filing_cabinet', {'filing_cabinet'}),
        ('slices of toast', {'breadslice'}),
        ('shelves', {'bookshelf'}),
        ('pans', {'fryingpan'}),
        ('watch TV', {'tv'}),
        ('eat and use it', set()),
    ],
)
def test_a_class_is_named_by_its_words_or_by_what_it_ends_with(
    words: str, classes: set[str]
) -> None:
    assert {*named(words)} == classes


def test_what_has_a_number_and_names_no_class_is_told_for_who_knows_what_it_means() -> None:
    found = [*mentions('put all cups on the fridge', CLASSES)]

    assert found == [Mention('cups', MOST, ()), Mention('fridge', 1, ('fridge',))]
    assert [*mentions('three cups', CLASSES)] == [Mention('cups', 3, ())]
    assert [*mentions('put the cup there', CLASSES)] == []


def test_a_class_that_is_not_there_is_not_named() -> None:
    assert [*mentions('a plate', ('fork',))] == []
