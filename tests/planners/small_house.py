"""Three rooms with some things in them, under VirtualHome's rules as ProgPrompt uses them."""

from collections.abc import Mapping

from bbllm.core.naming import id_of
from bbllm.core.types import Outcome, SkillCall
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.visibility import FULL, Visibility
from bbllm.worlds.household.world import HouseholdWorld

# name: where it is, properties, states
OBJECTS: Mapping[str, tuple[str, str, str]] = {
    'wineglass_10': ('table_30', 'GRABBABLE', ''),
    'lime_11': ('table_30', 'GRABBABLE', ''),
    'mug_12': ('table_30', 'GRABBABLE', 'DIRTY'),
    'salmon_13': ('table_30', 'GRABBABLE', ''),
    'salmon_14': ('table_30', 'GRABBABLE', ''),
    'bananas_15': ('table_30', 'GRABBABLE', ''),
    'apple_16': ('table_30', 'GRABBABLE', ''),
    'clothespile_17': ('bathroom_2', 'GRABBABLE', ''),
    'table_30': ('kitchen_1', 'SURFACES', ''),
    'kitchencabinet_31': ('kitchen_1', 'CAN_OPEN', 'CLOSED'),
    'garbagecan_32': ('kitchen_1', 'CAN_OPEN', 'OPEN'),
    'fridge_33': ('kitchen_1', 'CAN_OPEN', 'CLOSED'),
    'sink_34': ('kitchen_1', 'RECIPIENT', ''),
    'faucet_35': ('kitchen_1', 'HAS_SWITCH', 'OFF'),
    'coffeetable_36': ('livingroom_3', 'SURFACES', ''),
    'washingmachine_37': ('bathroom_2', 'CAN_OPEN HAS_SWITCH', 'CLOSED OFF'),
    'chair_38': ('livingroom_3', 'SITTABLE', ''),
}
ROOMS = ('kitchen_1', 'bathroom_2', 'livingroom_3')
ME = 'character_40'


class SmallHouse(HouseholdWorld):
    """A household of few things; every call is kept in `calls`."""

    def __init__(self, visibility: Visibility = FULL):
        super().__init__(Graph.from_dict(_graph()), mode=Mode.FRESH, visibility=visibility)
        self.calls: list[str] = []

    def execute(self, call: SkillCall) -> Outcome:
        self.calls.append(str(call))
        return super().execute(call)

    def has(self, subject: str, predicate: str, object: str) -> bool:
        return self.observe().has(subject, predicate, object)


def _graph() -> dict[str, object]:
    nodes: list[dict[str, object]] = [_node(room, 'Rooms') for room in ROOMS]
    nodes.append(_node(ME, 'Characters'))
    edges = [_edge(ME, 'INSIDE', 'bathroom_2')]
    for name, (place, properties, states) in OBJECTS.items():
        nodes.append(_node(name, 'Props', properties, states))
        if place in ROOMS:
            edges.append(_edge(name, 'INSIDE', place))
        else:
            edges.append(_edge(name, 'ON', place))
            edges.append(_edge(name, 'INSIDE', OBJECTS[place][0]))
    return {'nodes': nodes, 'edges': edges}


def _node(name: str, category: str, properties: str = '', states: str = '') -> dict[str, object]:
    class_name, _, number = name.rpartition('_')
    return {
        'id': int(number),
        'class_name': class_name,
        'category': category,
        'prefab_name': None,
        'properties': properties.split(),
        'states': states.split(),
        'bounding_box': None,
    }


def _edge(obj: str, relation: str, other: str) -> dict[str, object]:
    return {'from_id': id_of(obj), 'relation_type': relation, 'to_id': id_of(other)}
