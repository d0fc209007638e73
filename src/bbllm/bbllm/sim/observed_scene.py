"""The scene of a table as it was observed, as a file that a simulation begins with."""

from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject, Skill
from bbllm.robots.registry import DEFAULT_ROBOT
from bbllm.scene.object_models import OBJECT_MODELS, model_like
from bbllm.scene.scene_file import (
    DEFAULT_MASS_KG,
    LocationSpec,
    ObjectSpec,
    SceneFile,
    TableSpec,
)
from bbllm.skills.catalog import find_skill
from bbllm.skills.shapes import top_z

SLIDING = 0.4
"""Friction that is assumed where objects are pushed along a table."""


def observed_scene(scene: Scene, mass: float, robot: str = DEFAULT_ROBOT) -> SceneFile:
    """
    Return a scene as a file, with a factor for the masses, which are those of its kind of object.

    It is not checked, since what is in the hand stands on nothing.
    """
    tables = [item for item in scene.objects if item.kind is Kind.FIXTURE]
    loose = [item for item in scene.objects if item.kind in MOVABLE | {Kind.CONTAINER}]
    places = [item for item in scene.objects if item.kind is Kind.LOCATION]
    return SceneFile.model_construct(
        name='twin',
        robot=robot,
        tables=tuple(
            TableSpec(
                name=item.name,
                xy=item.pose.position_m[:2],
                size=item.size_m[:2],
                z=top_z(item),
            )
            for item in tables
        ),
        objects=tuple(_spec(item, mass) for item in loose),
        locations=tuple(
            LocationSpec(name=item.name, xy=item.pose.position_m[:2], z=item.pose.position_m[2])
            for item in places
        ),
        friction=SLIDING if any(map(_slides, scene.skills)) else None,
        skills=tuple(skill.name for skill in scene.skills),
    )


def _slides(offered: Skill) -> bool:
    skill = find_skill(offered.name)
    return skill is not None and skill.slides


def _spec(item: SceneObject, mass: float) -> ObjectSpec:
    """Return an object of `scene.object_models` where one has its size, else a box or cylinder."""
    like = model_like(item)
    common = {'name': item.name, 'xyz': item.pose.position_m}
    if like is not None:
        kind = next(name for name, model in OBJECT_MODELS.items() if model is like)
        return ObjectSpec.model_validate({**common, 'kind': kind, 'mass': like.mass_kg * mass})
    x, y, z = item.size_m
    is_cylinder = item.kind is Kind.CYLINDER
    return ObjectSpec.model_validate(
        {
            **common,
            'kind': 'cylinder' if is_cylinder else 'cube',
            'size': (x, z) if is_cylinder else (x, y, z),
            'mass': DEFAULT_MASS_KG * mass,
        }
    )
