"""A table and a house of few objects, without a simulator: what the questions are about."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bbllm.core.naming import id_of
from bbllm.core.skill_calls import CallError, check_call, looks_like_pose, parse_pose
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)
from bbllm.skills.catalog import SKILLS
from bbllm.skills.conditions import refusal
from bbllm.skills.rejection import Rejection
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.world import HouseholdWorld

CUBE_M = 0.04
"""Edge of the cubes [m]."""
NEAR_M = 0.02
"""How far from the middle of a place an object may be that is on it [m]."""
TABLE: Mapping[str, tuple[float, float]] = {
    'red_cube': (0.40, 0.12),
    'blue_cube': (0.48, 0.20),
    'green_cube': (0.56, 0.04),
    'grey_cylinder': (0.60, 0.16),
    'location_A': (0.54, -0.18),
    'location_B': (0.44, -0.12),
}
"""Where the objects of the table are, x and y in the robot's base frame [m]."""

THINGS: Mapping[str, tuple[str, str, str]] = {
    'table_3': ('kitchen_1', 'SURFACES', ''),
    'fridge_4': ('kitchen_1', 'CAN_OPEN CONTAINERS', 'CLOSED'),
    'garbagecan_5': ('kitchen_1', 'CAN_OPEN CONTAINERS', 'OPEN'),
    'tv_6': ('livingroom_2', 'HAS_SWITCH LOOKABLE', 'OFF'),
    'salmon_7': ('table_3', 'GRABBABLE', ''),
    'apple_8': ('table_3', 'GRABBABLE', ''),
    'mug_9': ('table_3', 'GRABBABLE', ''),
    'coffeetable_11': ('livingroom_2', 'SURFACES', ''),
    'book_10': ('coffeetable_11', 'GRABBABLE', ''),
}
"""Objects of the house: where they are, their properties and states in VirtualHome's words."""
ROOMS = ('kitchen_1', 'livingroom_2')
ME = 'character_12'


class SmallTable:
    """A World of cubes and places whose poses are bookkeeping; *held* is in the hand."""

    skills: tuple[Skill, ...] = SKILLS

    def __init__(self, held: str | None = None) -> None:
        self._held = held
        self._items = {name: _item(name, *at) for name, at in TABLE.items()}

    def observe(self) -> Scene:
        hand = HandReading(
            tcp=Pose(position_m=(0.3, 0.0, 0.5), quat_xyzw=(1.0, 0.0, 0.0, 0.0)),
            width_m=CUBE_M if self._held else 2 * CUBE_M,
            force_n=(0.0, 0.0, -1.0 if self._held else 0.0),
        )
        return Scene(tuple(self._items.values()), self.skills, tuple(self._facts()), 0.0, hand)

    def execute(self, call: SkillCall) -> Outcome:
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        refused = refusal(call, self.observe()) or self._occupied(call)
        if refused is not None:
            return refused.outcome(call)
        if call.skill == 'pick':
            self._held = call.args[0]
        elif call.skill == 'place':
            self._put_down(call.args[0])
        elif call.skill == 'open_gripper':
            self._held = None
        return Outcome(call=call, status=Status.SUCCEEDED)

    def stop(self) -> None:
        pass

    def _facts(self) -> Iterable[Fact]:
        if self._held:
            yield Fact(self._held, 'held_by', 'hand')
        for name, item in self._items.items():
            if item.kind is not Kind.LOCATION and name != self._held:
                yield Fact(name, 'on', self._below(item))
        for name in self._items:
            yield Fact(name, 'reachable', 'yes')

    def _below(self, item: SceneObject) -> str:
        x, y, z = item.pose.position_m
        for name, other in self._items.items():
            ox, oy, oz = other.pose.position_m
            if name in (item.name, self._held) or abs(x - ox) + abs(y - oy) > NEAR_M:
                continue
            if abs(z - oz - (CUBE_M / 2 if other.kind is Kind.LOCATION else CUBE_M)) < 0.01:
                return name
        return 'table'

    def _occupied(self, call: SkillCall) -> Rejection | None:
        if call.skill != 'place':
            return None
        (target,) = call.args
        there = [f.subject for f in self._facts() if (f.predicate, f.object) == ('on', target)]
        if not there:
            return None
        return Rejection(Code.OCCUPIED, f'{target} is occupied by {there[0]}.')

    def _put_down(self, target: str) -> None:
        assert self._held is not None  # `refusal` looked
        if looks_like_pose(target):
            x, y, z = parse_pose(target).position_m
        else:
            x, y, z = self._items[target].pose.position_m
            z += CUBE_M / 2 if self._items[target].kind is Kind.LOCATION else CUBE_M
        held = self._items[self._held]
        self._items[self._held] = replace(held, pose=Pose(position_m=(x, y, z)))
        self._held = None


def small_house(held: str | None = None) -> HouseholdWorld:
    """
    Return a kitchen and a living room under VirtualHome's rules; all of it is visible.

    The character has an object of the class *held* in its hand.
    """
    nodes: list[dict[str, object]] = [_node(room, 'Rooms') for room in ROOMS]
    nodes.append(_node(ME, 'Characters'))
    edges = [_edge(ME, 'INSIDE', 'livingroom_2')]
    for name, (place, properties, states) in THINGS.items():
        nodes.append(_node(name, 'Props', properties, states))
        if place in ROOMS:
            edges.append(_edge(name, 'INSIDE', place))
        else:
            edges += [_edge(name, 'ON', place), _edge(name, 'INSIDE', THINGS[place][0])]
    graph = Graph.from_dict({'nodes': nodes, 'edges': edges})
    house = HouseholdWorld(graph, mode=Mode.FRESH)
    for name in THINGS:
        if held == name.rpartition('_')[0]:
            house.execute(SkillCall('find', (name,)))
            house.execute(SkillCall('grab', (name,)))
    return house


def _item(name: str, x: float, y: float) -> SceneObject:
    color, _, kind = name.partition('_')
    if color == 'location':
        pose = Pose(position_m=(x, y, 0.0))
        return SceneObject(name=name, kind=Kind.LOCATION, pose=pose)
    return SceneObject(
        name=name,
        kind=Kind(kind),
        pose=Pose(position_m=(x, y, CUBE_M / 2)),
        size_m=(CUBE_M, CUBE_M, CUBE_M),
        color=color,
    )


def _node(name: str, category: str, properties: str = '', states: str = '') -> dict[str, object]:
    return {
        'id': id_of(name),
        'class_name': name.rpartition('_')[0],
        'category': category,
        'prefab_name': None,
        'properties': properties.split(),
        'states': states.split(),
        'bounding_box': None,
    }


def _edge(thing: str, relation: str, other: str) -> dict[str, object]:
    return {'from_id': id_of(thing), 'relation_type': relation, 'to_id': id_of(other)}
