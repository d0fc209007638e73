"""Sentences of models are held to what their kind must and must never say."""

import re

import pytest
from made_sentences import ASKING, OTHERWISE

from benchmarks.finetuning.kinds import KINDS, Kind
from benchmarks.finetuning.paraphrases import fault_of

BY_NAME = {kind.name: kind for kind in KINDS}
SWAPS = (
    {'heavier': 'lighter', 'heaviest': 'lightest'},
    {'on': 'off'},
    {'on top': 'at the bottom', 'at the bottom': 'on top', 'below': 'above'},
)


def rows(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(sentence, name) for name, sentences in table.items() for sentence in sentences]


@pytest.mark.parametrize(('sentence', 'name'), rows(ASKING))
def test_what_asks_for_a_kind_in_other_words_is_kept(sentence: str, name: str) -> None:
    assert fault_of(sentence, BY_NAME[name]) == ''


@pytest.mark.parametrize(('sentence', 'name'), rows(OTHERWISE))
def test_what_asks_for_something_else_is_refused(sentence: str, name: str) -> None:
    assert fault_of(sentence, BY_NAME[name])


@pytest.mark.parametrize('kind', KINDS, ids=lambda kind: kind.name)
def test_a_sentence_of_another_kind_for_as_many_blocks_is_refused(kind: Kind) -> None:
    others = [other for other in KINDS if other is not kind and other.blocks == kind.blocks]
    said = [sentence for other in others for sentence in other.sentences]

    assert len(said) > 100
    assert [sentence for sentence in said if not fault_of(sentence, kind)] == []


def swapped(sentence: str, words: dict[str, str]) -> str:
    """Put the opposite for each of the words, both ways."""
    both = words | {value: key for key, value in words.items()}
    return re.sub(rf'\b({"|".join(both)})\b', lambda found: both[found[0]], sentence)


@pytest.mark.parametrize('words', SWAPS, ids=str)
@pytest.mark.parametrize('kind', [kind for kind in KINDS if kind.needs == 'weights'])
def test_a_sentence_about_weights_with_its_words_turned_round_is_refused(
    kind: Kind, words: dict[str, str]
) -> None:
    turned = [(swapped(sentence, words), sentence) for sentence in kind.sentences]

    assert [new for new, old in turned if new != old and not fault_of(new, kind)] == []


def test_what_says_nothing_of_being_asked_for_is_refused() -> None:
    kind = BY_NAME['movable_to_corner']

    assert fault_of('The block at the corner is movable.', kind) == 'does not say what matters'
    assert fault_of('Move the fixed block to a corner.', kind) == 'does not say what matters'
    assert fault_of('Put the movable block away from the corner.', kind) == (
        'asks for something else'
    )
