"""`grab_and_putin(obj1, obj2)`: pick an object and put it down in or on a container."""

from bbllm.core.types import Code, Kind, Scene, Skill, SkillCall
from bbllm.skills.containers import APART_M
from bbllm.skills.place import PUTTING
from bbllm.skills.skill import ArmSkill, Handling, Precondition, Words


def _into_itself(call: SkillCall, scene: Scene) -> Words | None:
    return {'obj1': call.args[0]} if call.args[0] == call.args[1] else None


GRAB_AND_PUTIN = ArmSkill(
    signature=Skill(
        'grab_and_putin',
        ('obj1', 'obj2'),
        'pick obj1 and put it in or on obj2, a container, as near to its middle as it and the '
        'fingers fit: inside the oval `room` of obj2, '
        f'{APART_M * 1000:.0f} mm from what is there. place with the name of a container does so '
        'too; it takes no pose in one. What lies deeper than a rim cannot be picked out',
    ),
    needs=(
        Precondition(
            '{obj1} is not {obj2}',
            Code.BAD_ARGUMENTS,
            '{obj1} cannot be put into itself; name something to put it in or on.',
            unmet=_into_itself,
        ),
    ),
    halves=(SkillCall('pick', ('{obj1}',)), SkillCall('place', ('{obj2}',))),
    handling=lambda call: Handling(takes=call.args[:1], onto=call.args[-1:]),
    words=(*PUTTING, 'grab and putin'),
    forms=('grab {} and put it on {}', 'pick {} and put it in {}'),
    offered=lambda objects, asked: any(item.kind is Kind.CONTAINER for item in objects),
)
"""The one action of ProgPrompt on a table (section IV-B)."""
