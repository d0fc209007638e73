"""
Draws households at random, in VirtualHome's JSON: parts of the project's houses, and rather odd.

They are made to compare two simulators, not to live in: now and then an object lies in no room, a
chair is a recipient, or an edge leads anywhere. Everything follows from the dice.
"""

import random
from functools import cache
from typing import Any

from bbllm.worlds.household.checks import SQUEEZABLE
from bbllm.worlds.household.houses import list_houses, load_house
from bbllm.worlds.household.vocabulary import CHARACTER, ROOMS, Property, State

House = dict[str, list[dict[str, Any]]]

RULED = (
    *('desk', 'window', 'water', 'child', 'button', 'chair', 'curtain', 'hands_both', 'face'),
    *('computer', 'keyboard', 'cutting_knife', 'couch', 'bathtub', 'loveseat', *SQUEEZABLE),
)
"""Classes that some rule names."""
RELATIONS = ('ON', 'INSIDE', 'CLOSE', 'CLOSE', 'FACING', 'FACING')
"""Of an edge that leads anywhere; INSIDE only to what has a lower id: no rings."""


@cache
def _house(name: str) -> House:
    return load_house(name).graph.to_dict()


def draw_house(dice: random.Random, size: int, *, odd: float = 0.1) -> House:
    """Draw a household of about *size* objects; how often something is *odd* is 0 to 1."""
    house = _house(dice.choice(list_houses()))
    kept = [node for node in house['nodes'] if node['class_name'] == CHARACTER]
    kept += [node for node in house['nodes'] if node['category'] == ROOMS]
    others = [node for node in house['nodes'] if node not in kept]
    kept += dice.sample(others, min(size, len(others)))
    nodes = [_spoiled(dice, node, odd) for node in sorted(kept, key=lambda node: node['id'])]
    ids = [node['id'] for node in nodes]
    edges = [
        edge
        for edge in house['edges']
        if edge['from_id'] in ids and edge['to_id'] in ids and dice.random() > odd / 4
    ]
    edges += [_edge_anywhere(dice, ids) for _ in range(round(odd * len(ids)))]
    if dice.random() < odd:
        edges += [{**edge, 'relation_type': edge['relation_type'].lower()} for edge in edges[:3]]
        nodes = [{**nodes[-1], 'states': ['CLEAN'], 'class_name': 'cup'}, *nodes]
    return {'nodes': nodes, 'edges': edges}


def _spoiled(dice: random.Random, node: dict[str, Any], odd: float) -> dict[str, Any]:
    node = dict(node)
    if node['category'] != ROOMS and node['class_name'] != CHARACTER and dice.random() < 0.2:
        node['class_name'] = dice.choice(RULED)
    if dice.random() < odd:
        words = (*node['properties'][1:], *dice.sample(list(Property.__members__), 2))
        node['properties'] = [*dict.fromkeys(words)]
    if dice.random() < odd:
        node['states'] = dice.sample(list(State.__members__), 2)
    return node


def _edge_anywhere(dice: random.Random, ids: list[int]) -> dict[str, Any]:
    low, high = sorted(dice.sample(ids[1:], 2))
    relation = dice.choice((*RELATIONS, 'HOLDS_RH'))
    if relation == 'HOLDS_RH':  # the character, whose id is the lowest
        return {'from_id': ids[0], 'relation_type': relation, 'to_id': high}
    if relation in ('CLOSE', 'FACING') and dice.random() < 0.3:
        high = ids[0]
    return {'from_id': high, 'relation_type': relation, 'to_id': low}
