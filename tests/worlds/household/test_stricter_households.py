"""A household that is asked to be stricter than its rules, for whoever plans by more of them."""

from __future__ import annotations

from bbllm.worlds.household.checks import hand_is_full, no
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.rule import Check
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

ONE_AT_A_TIME = {Action.GRAB: Check('two_at_once', no(hand_is_full), '{C} holds something')}


def line(action: Action, word: str, graph: Graph) -> ScriptLine:
    """Return a line on the first thing of a class."""
    ids = [node_id for node_id, node in graph.nodes.items() if node.class_name == word]
    return ScriptLine(action, ((word, min(ids)),))


def test_what_more_is_checked_holds_in_its_copies_and_not_in_the_first() -> None:
    first = Household(load_house('studio').graph)
    strict = first.with_checks(ONE_AT_A_TIME).copy()
    steps = [
        line(action, word, first.graph)
        for word in ('plum', 'bananas')
        for action in (Action.WALK, Action.GRAB)
    ]

    assert [strict.step(step).broken for step in steps] == ['', '', '', 'two_at_once']
    assert not strict.can(steps[-1])
    assert [first.step(step).broken for step in steps] == ['', '', '', '']
