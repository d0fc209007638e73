"""Skills that no module of bbllm has, for tests of what holds for any skill."""

from collections.abc import Iterator

import pytest

from bbllm.core.plugins import Plugin
from bbllm.core.types import Scene, Skill, SkillCall
from bbllm.skills import (
    HOVER_M,
    ArmSkill,
    Glide,
    Grip,
    Hand,
    LetGo,
    Lift,
    Motion,
    MoveAbove,
    PlaceTarget,
    Rejection,
    Rest,
    Rise,
    catalog,
    close_on,
    grips_on,
    where_asked,
)

LEFT = {'left': 1.0, 'right': -1.0}


def _sweep(call: SkillCall, scene: Scene, hand: Hand) -> Motion:
    """Move an object along y with closed fingers, which come down 4 cm beside its middle."""
    item, way = scene.object(call.args[0]), LEFT[call.args[1]] * float(call.args[2])
    x, y, z = item.pose.position_m
    back_m = 0.04 if way < 0 else -0.04
    grip = Grip(position_m=(x, y + back_m, z), yaw_rad=1.5708, opening_m=0.0, side_room_m=0.0)
    along = Glide(f'sweeping {item.name}', (0.0, way, 0.0), most_m_s=0.06, touching=(item.name,))
    target = PlaceTarget(label='its end', centre_m=(x, y + way, z), yaw_rad=0.0)
    above = MoveAbove((grip,), HOVER_M, item.name)
    return Motion((above, along, Rise()), Rest(item.name, target, tolerance_m=0.05))


def _twirl(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    """Lift an object, turn it in the air and put it down where it was."""
    item = scene.object(call.args[0])
    grips = grips_on(item, scene, 'twirled')
    if isinstance(grips, Rejection):
        return grips
    name, touching = item.name, (item.name, 'table')
    turn = Glide(f'twirling {name}', turn_rad=0.5, touching=touching)
    down = Glide(f'setting {name} down', (0.0, 0.0, 0.001 - HOVER_M), touching=touching)
    above = MoveAbove(grips, HOVER_M, name, (name,), takes=True)
    return Motion((above, close_on(item), Lift(name), turn, down, LetGo(name), Rise()))


SWEEP = ArmSkill(
    signature=Skill('sweep', ('object', 'direction', 'distance'), 'sweep an object along y'),
    plan=_sweep,
    words=('brush',),
    slides=True,
    offered=where_asked('sweep'),
)
TWIRL = ArmSkill(
    signature=Skill('twirl', ('object', 'degrees'), 'turn an object in the air'),
    plan=_twirl,
    words=('whirl',),
    offered=where_asked('twirl'),
)
NAMES = (SWEEP.name, TWIRL.name)


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Declare both as another package does, for one test."""
    points = tuple(
        Plugin(catalog.GROUP, name, f'{__name__}:{name.upper()}', 'declared') for name in NAMES
    )
    monkeypatch.setattr(catalog, 'installed', lambda group: points)
    catalog.arm_skills.cache_clear()
    yield
    catalog.arm_skills.cache_clear()
