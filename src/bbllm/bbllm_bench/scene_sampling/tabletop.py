"""Draws one scene by a recipe: how many, what colours, where, and in which order listed."""

import itertools
from collections.abc import Iterator, Sequence

from bbllm.core.types import Kind
from bbllm.scene.object_models import OBJECT_MODELS
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm_bench.scene_sampling.placement import Dice, Floor, NoRoomError, Point, T, radius_m
from bbllm_bench.suites.scene_recipe import (
    EDGE_M,
    MOST_LOCATIONS,
    Group,
    LocationGroup,
    ObjectGroup,
    Recipe,
    location_name,
)

MASS_DRAWS = 1000
"""How often masses are drawn before the whole scene is drawn anew."""


def draw(recipe: Recipe, name: str, dice: Dice) -> tuple[SceneFile, frozenset[str]]:
    """
    Draw a scene once: patterns first, since they need the most room, far objects last.

    With it, the names of what shall be within reach are returned; all else shall not, which
    inverse kinematics has not been asked yet.

    Raises:
        NoRoomError: Something did not fit; the text names it.
    """
    places: list[tuple[Group, Point]] = []
    items: list[tuple[Group, ObjectSpec]] = []
    if recipe.things:
        items = _in_list_order(_goods(recipe, dice), dice)
    else:
        colors = _colors(recipe, dice)
        kinds = zip(colors, recipe.objects, strict=True)
        n_cubes = sum(len(found) for found, group in kinds if group.kind == 'cube')
        floor = Floor(recipe, dice)
        for index, group in enumerate(recipe.locations):
            if group.pattern != 'scattered':
                label = f'the {group.pattern} of locations[{index}]'
                points = floor.pattern(group, _count(group, dice, n_cubes), label)
                places += [(group, point) for point in points]
        for reach in (True, False):
            items += _objects(recipe, floor, dice, colors, reach=reach)
            places += _scattered(recipe, floor, dice, n_cubes, reach=reach)
        _hide(recipe, items, dice)
        items = _in_list_order(items, dice)
        places = _in_list_order(places, dice)
    if len(places) > MOST_LOCATIONS:
        raise NoRoomError(f'more than {MOST_LOCATIONS} locations, which letters name')
    lettered = [
        (group, LocationSpec(name=location_name(index), xy=xy))
        for index, (group, xy) in enumerate(places)
    ]
    scene = SceneFile(
        name=name,
        tables=(recipe.table,),
        objects=tuple(item for _, item in items),
        locations=tuple(item for _, item in lettered),
        force_noise_n=recipe.force_noise_n,
        grip_offset_m=recipe.grip_offset_m,
    )
    near = [item.name for group, item in items if group.reach]
    near += [item.name for group, item in lettered if group.reach]
    return scene, frozenset(near)


def _goods(recipe: Recipe, dice: Dice) -> list[tuple[Group, ObjectSpec]]:
    floor = Floor(recipe, dice)
    chosen: dict[str, Group] = {}
    for goods in recipe.things:
        kinds = [kind for kind in goods.kinds if kind not in chosen]
        if goods.count is not None:
            kinds = dice.shuffled(kinds)[: dice.number(goods.count)]
        chosen |= dict.fromkeys(kinds, goods)
    found: list[tuple[Group, ObjectSpec]] = []
    for kind in sorted(chosen, key=lambda kind: -radius_m(kind)):
        group = chosen[kind]
        xy = floor.spot(group.area, reach=group.reach, label=f'the {kind}', kind=kind)
        # A container keeps to the axes of the table; the rest lies any way.
        turns = OBJECT_MODELS[kind].kind is not Kind.CONTAINER
        yaw = float(dice.number((0, 359)) - 180) if turns else 0.0
        spec = {'name': kind, 'kind': kind, 'xy': xy, 'yaw_deg': yaw}
        found.append((group, ObjectSpec.model_validate(spec)))
    return found


def _colors(recipe: Recipe, dice: Dice) -> list[list[str]]:
    """Return the colours of each group; groups with the least choice choose first."""
    used: set[tuple[str, str]] = set()
    found: dict[int, list[str]] = {}
    groups = sorted(enumerate(recipe.objects), key=lambda item: len(item[1].palette))
    for index, group in groups:
        free = [color for color in group.palette if (group.kind, color) not in used]
        n = dice.number(group.count)
        if n > len(free):
            raise NoRoomError(f'not enough colours for the {group.kind}s of objects[{index}]')
        found[index] = dice.shuffled(free)[:n]
        used |= {(group.kind, color) for color in found[index]}
    return [found[index] for index in range(len(recipe.objects))]


def _scattered(
    recipe: Recipe, floor: Floor, dice: Dice, n_cubes: int, *, reach: bool
) -> Iterator[tuple[Group, Point]]:
    for index, group in enumerate(recipe.locations):
        if group.pattern == 'scattered' and group.reach is reach:
            for _ in range(_count(group, dice, n_cubes)):
                label = f'a place of locations[{index}]'
                yield group, floor.spot(group.area, reach=reach, label=label)


def _count(group: LocationGroup, dice: Dice, n_cubes: int) -> int:
    if group.count is None:
        return 0  # the pattern knows
    return n_cubes if group.count == 'cubes' else dice.number(group.count)


def _objects(
    recipe: Recipe, floor: Floor, dice: Dice, colors: Sequence[Sequence[str]], *, reach: bool
) -> Iterator[tuple[Group, ObjectSpec]]:
    for index, group in enumerate(recipe.objects):
        for color in colors[index] if group.reach is reach else ():
            label = f'a {group.kind} of objects[{index}]'
            spec = ObjectSpec(
                name=group.name_of(color),
                kind=group.kind,
                color=color,
                xy=floor.spot(group.area, reach=reach, label=label),
                yaw_deg=float(dice.number((0, 89)) - 45) if group.kind == 'cube' else 0.0,
                size=EDGE_M,
            )
            yield group, spec


def _hide(recipe: Recipe, items: list[tuple[Group, ObjectSpec]], dice: Dice) -> None:
    """Give objects hidden properties: their masses, and which of them are fixed to the table."""
    for group in recipe.objects:
        members = [index for index, (of, _) in enumerate(items) if of is group]
        # No dice where a recipe does not ask, so that scenes of other recipes stay as they are.
        masses = _masses(group, len(members), dice) if group.mass else ()
        hidden: list[tuple[int, dict[str, object]]] = [
            (index, {'mass': mass}) for index, mass in zip(members, masses, strict=False)
        ]
        fixed = dice.shuffled(members)[: group.fixed] if group.fixed else ()
        hidden += [(index, {'fixed': True}) for index in fixed]
        for index, update in hidden:
            items[index] = (group, items[index][1].model_copy(update=update))


def _masses(group: ObjectGroup, n: int, dice: Dice) -> list[float]:
    """Return masses [kg], a ratio or steps apart; each is as likely to be the greatest."""
    assert group.mass is not None  # the caller looked
    if group.mass_odd is not None:
        masses = [dice.between(*group.mass)] * n
        masses[0] = round(masses[0] + dice.shuffled([-1, 1])[0] * group.mass_odd, 4)
        return dice.shuffled(masses)
    if group.mass_step is not None:
        masses = [dice.between(*group.mass)]
        while len(masses) < n:
            masses.append(round(masses[-1] + dice.between(*group.mass_step), 4))
        return dice.shuffled(masses)
    for _ in range(MASS_DRAWS):
        masses = [dice.between(*group.mass) for _ in range(n)]
        ordered = sorted(masses)
        if all(a * group.mass_ratio <= b for a, b in itertools.pairwise(ordered)):
            return masses
    raise NoRoomError(f'no masses of the {group.kind}s that are mass_ratio apart')


def _in_list_order(items: Sequence[tuple[Group, T]], dice: Dice) -> list[tuple[Group, T]]:
    """Shuffle, but keep what shall be listed first or last at its end."""
    order = ('first', 'anywhere', 'last')
    return sorted(dice.shuffled(items), key=lambda item: order.index(item[0].listed))
