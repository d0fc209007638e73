"""`open_gripper()`: let go of what is held, where it is."""

from collections.abc import Iterator

from bbllm.core.types import Fact, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.segments import Motion, OpenHand
from bbllm.skills.shapes import bottom_z, is_solid, outline, polygon_gap, top_z
from bbllm.skills.skill import ArmSkill, Handling

DROP_M = 0.01
"""An object that is let go higher than this above what is below it falls [m]."""


def _risks(call: SkillCall, scene: Scene) -> Iterator[str]:
    if scene.held is not None:
        fall_m = _fall_m(scene.object(scene.held), scene)
        if fall_m > DROP_M:
            yield f'it lets go of {scene.held} {fall_m * 100:.0f} cm above what is below it'


def _fall_m(item: SceneObject, scene: Scene) -> float:
    """Return how far an object would fall onto the highest solid object below it [m]."""
    foot, shape = bottom_z(item), outline(item)
    below = [
        top_z(other)
        for other in scene.objects
        if other is not item
        and is_solid(other)
        and top_z(other) < foot + DROP_M
        and polygon_gap(shape, outline(other)) < 0.0
    ]
    return foot - max(below, default=0.0)


OPEN_GRIPPER = ArmSkill(
    signature=Skill('open_gripper', (), 'open the fingers; what is held is let go where it is'),
    removes=(Fact('{held}', 'held_by', 'hand'), Fact('hand', 'is', 'empty')),
    adds=(Fact('hand', 'is', 'empty'), Fact('{held}', 'is', 'clear', estimated=True)),
    plan=lambda call, scene, hand: Motion((OpenHand(),)),
    handling=lambda call: Handling(sets_down=True, drops=True),
    risks=_risks,
    words=('open gripper', 'open hand', 'open fingers', 'release', 'let go'),
    forms=('open the gripper',),
)
