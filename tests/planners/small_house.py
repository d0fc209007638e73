"""Three rooms with some things in them, under VirtualHome's rules, as a World."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bbllm.core.calls import CallError, check_call
from bbllm.core.instances import id_of, instance_name
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import parse_line
from bbllm.worlds.household.vocabulary import Action, Relation

PREDICATES = {
    Relation.INSIDE: 'inside',
    Relation.ON: 'on',
    Relation.CLOSE: 'close_to',
    Relation.HOLDS_RH: 'held_by',
    Relation.HOLDS_LH: 'held_by',
}
NOWHERE = Pose(position_m=(0.0, 0.0, 0.0))
# name: where it is, properties, states
THINGS: Mapping[str, tuple[str, str, str]] = {
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


class SmallHouse:
    """A World of few things; every call is kept in `calls`."""

    def __init__(self, *, without: Iterable[str] = ()):
        self.calls: list[str] = []
        self._house = Household(Graph.from_dict(_graph(set(without))), mode=Mode.FRESH)
        self._names = {
            node.id: instance_name(node.class_name, node.id)
            for node in self._house.graph.nodes.values()
        }
        self.skills = tuple(_skill(action) for action in Action)

    def observe(self) -> Scene:
        objects = tuple(
            SceneObject(name=name, kind=Kind.OTHER, pose=NOWHERE) for name in self._names.values()
        )
        return Scene(objects, self.skills, tuple(self._facts()), 0.0, domain='household')

    def execute(self, call: SkillCall) -> Outcome:
        self.calls.append(str(call))
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        things = ''.join(f' <x> ({id_of(arg)})' for arg in call.args)
        result = self._house.step(parse_line(f'[{call.skill.upper()}]{things}'))
        if result.succeeded:
            return Outcome(call=call, status=Status.SUCCEEDED)
        message = ' '.join(result.messages) or 'it did not work'
        return Outcome(call=call, status=Status.REJECTED, code=Code.INTERNAL, message=message)

    def stop(self) -> None:
        pass

    def has(self, subject: str, predicate: str, object: str) -> bool:
        return self.observe().has(subject, predicate, object)

    def _facts(self) -> Iterable[Fact]:
        graph = self._house.graph
        for node in graph.nodes.values():
            name = self._names[node.id]
            for state in node.states:
                yield Fact(name, 'is', state.value.lower())
            for affordance in node.properties:
                yield Fact(name, 'affords', affordance.value.lower())
            room = graph.room_of(node.id)
            if room is not None and not node.is_room:
                yield Fact(name, 'in_room', self._names[room])
            for relation, predicate in PREDICATES.items():
                for other in sorted(graph.targets(node.id, relation)):
                    if relation in (Relation.INSIDE, Relation.ON):
                        yield Fact(name, predicate, self._names[other])
                    elif name == ME:
                        yield Fact(self._names[other], predicate, ME)


def _graph(without: set[str]) -> dict[str, object]:
    nodes: list[dict[str, object]] = [_node(room, 'Rooms') for room in ROOMS]
    nodes.append(_node(ME, 'Characters'))
    edges = [_edge(ME, 'INSIDE', 'bathroom_2')]
    for name, (place, properties, states) in THINGS.items():
        if name in without:
            continue
        nodes.append(_node(name, 'Props', properties, states))
        if place in ROOMS:
            edges.append(_edge(name, 'INSIDE', place))
        else:
            edges.append(_edge(name, 'ON', place))
            edges.append(_edge(name, 'INSIDE', THINGS[place][0]))
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


def _edge(thing: str, relation: str, other: str) -> dict[str, object]:
    return {'from_id': id_of(thing), 'relation_type': relation, 'to_id': id_of(other)}


def _skill(action: Action) -> Skill:
    return Skill(action.value.lower(), ('object', 'target')[: action.arity])
