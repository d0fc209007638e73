"""What an observation lists where, and by which of its places a thing is told."""

from __future__ import annotations

from dataclasses import replace

from made_scenes import made_scene

from bbllm.core.types import Kind, Scene
from bbllm.planners.common.observation_text import observation_text, situation_text
from bbllm.planners.common.short_names import ShortNames


def house(things: str, *facts: str) -> Scene:
    """Return a scene of a room `kitchen_1`, of who acts, and of things."""
    scene = made_scene(f'kitchen_1 character_2 {things}', *facts)
    room, *others = scene.objects
    return replace(scene, objects=(replace(room, kind=Kind.LOCATION), *others))


def told(scene: Scene) -> dict[str, str]:
    names = ShortNames()
    names.see(scene)
    return dict(line.split(': ', 1) for line in observation_text(scene, names).splitlines())


def test_what_can_be_taken_or_switched_is_an_object_beside_what_it_holds_and_others_are_not() -> (
    None
):
    lists = told(
        house(
            'box_3 cabinet_4 oven_5 tray_6 spoon_7',
            *('box_3 affords containers', 'box_3 affords grabbable', 'cabinet_4 affords can_open'),
            *('cabinet_4 affords containers', 'oven_5 affords containers'),
            *('oven_5 affords has_switch', 'tray_6 affords surfaces', 'spoon_7 affords cut'),
        )
    )

    assert lists['Object List'] == '[box1, oven1, spoon1]'
    assert lists['Container List'] == '[box1, cabinet1, oven1]'
    assert lists['Surface List'] == '[tray1]'


def test_a_thing_is_told_by_what_it_is_on_else_by_what_it_is_in_and_last_by_its_room() -> None:
    things = 'mug_3 fork_4 lamp_5 tray_6 drawer_7'
    facts = [f'{name} affords grabbable' for name in ('mug_3', 'fork_4', 'lamp_5')]
    facts += [f'{name} in_room kitchen_1' for name in ('mug_3', 'fork_4', 'lamp_5')]
    facts += ['mug_3 on tray_6', 'mug_3 inside drawer_7', 'fork_4 inside drawer_7']
    facts += [f'{name} inside kitchen_1' for name in ('mug_3', 'fork_4', 'lamp_5')]

    assert told(house(things, *facts))['Object List'] == (
        '[mug1 ON tray1, fork1 IN drawer1, lamp1 IN kitchen1]'
    )


def test_what_is_close_is_neither_what_is_held_nor_who_acts() -> None:
    near = [f'{name} close_to character_2' for name in ('character_2', 'mug_3', 'fork_4')]
    scene = house('mug_3 fork_4', *near, 'mug_3 held_by character_2', 'mug_3 affords grabbable')

    lists = told(scene)

    assert lists['You are close to'] == '[fork1]'
    assert lists['Current Holding'] == '[mug1]'
    assert lists['Current Room'] == 'none'
    assert lists['Object List'] == '[]'


def test_of_a_table_only_what_is_held_is_told_apart_from_the_scene() -> None:
    scene = made_scene('red_cube', 'red_cube held_by gripper', domain='tabletop')

    assert situation_text(scene, ShortNames()) == 'Current Holding: [red_cube]'
