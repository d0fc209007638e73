"""Demonstrations: how they are chosen without similarity, and which files can be shown."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import yaml

from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.fltrnn.demonstrations import (
    Chooser,
    Demonstration,
    DemonstrationError,
    household_demonstrations,
    read_demonstrations,
)

ALL = household_demonstrations()
GOOD = {
    'goal': 'turnon_tv: 1',
    'things': ['tv(id:2) inside den(id:1)'],
    'plan': "walk('tv(id:2)')\nswitchon('tv(id:2)')\n# done",
}


def read(folder: Path, **changes: object) -> Demonstration:
    path = folder / 'mine.yaml'
    path.write_text(yaml.safe_dump({'demonstrations': [{**GOOD, **changes}]}))
    (item,) = read_demonstrations(path)
    return item


def test_fixed_ones_are_the_first_of_the_file_and_random_ones_go_by_the_dice() -> None:
    chooser = Chooser(ALL, LexicalEmbedder())

    assert chooser.fixed(2) == [*ALL[:2]]
    drawn = [chooser.random(Random(seed), 3) for seed in range(9)]
    assert all(len({item.goal for item in three}) == 3 for three in drawn)
    assert len({tuple(item.goal for item in three) for three in drawn}) > 1
    assert drawn[0] == chooser.random(Random(0), 3)


def test_no_more_are_chosen_than_there_are() -> None:
    chooser = Chooser(ALL[:2], LexicalEmbedder())

    assert len(chooser.random(Random(0), 9)) == len(chooser.fixed(9)) == 2
    assert len(chooser.similar('turnon_tv: 1', 9)) == 2
    assert len(chooser.similar('turnon_tv: 1', 1)) == 1


@pytest.mark.parametrize(
    ('said', 'state'), [(True, 'on'), (False, 'off'), ('off open', 'off open')]
)
def test_states_are_words_and_what_yaml_takes_for_a_truth_value_is_on_or_off(
    tmp_path: Path, said: str | bool, state: str
) -> None:
    assert read(tmp_path, states={'tv(id:2)': said}).states == {'tv_2': tuple(state.split())}


def test_a_thing_of_which_only_the_state_is_told_may_be_used(tmp_path: Path) -> None:
    item = read(tmp_path, things=[], states={'tv(id:2)': 'off'})

    assert item.plan == tuple(str(GOOD['plan']).splitlines())


@pytest.mark.parametrize(
    'text', ['tv(id:2) near den(id:1)', 'tv(id:2) inside', 'tv(id:2) inside den(id:1) today', '']
)
def test_where_a_thing_is_takes_three_words_and_one_of_the_relations(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(DemonstrationError, match='it is written `milk'):
        read(tmp_path, things=[text])
