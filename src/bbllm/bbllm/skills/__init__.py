"""
What the robot can do, each skill as one object, and how it becomes motions.

Everything in `__all__` is for packages that bring a skill of their own, by an entry point of the
group `bbllm.skills`; docs/writing-a-skill.md shows one.
"""

from bbllm.skills.grasps import Grip, Hand
from bbllm.skills.needs import FINGER_ROOM, FREE_WAY, IN_REACH, taking, uncovered
from bbllm.skills.pick import GRIPPABLE, close_on, grips_on
from bbllm.skills.placing import PlaceTarget
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import (
    HOVER_M,
    CloseHand,
    CloseOn,
    Glide,
    LetGo,
    Lift,
    Motion,
    MoveAbove,
    OpenHand,
    Rest,
    Rise,
    StandStill,
    ToBase,
)
from bbllm.skills.skill import (
    ArmSkill,
    Handling,
    Judge,
    Precondition,
    where_asked,
)

__all__ = [
    'FINGER_ROOM',
    'FREE_WAY',
    'GRIPPABLE',
    'HOVER_M',
    'IN_REACH',
    'ArmSkill',
    'CloseHand',
    'CloseOn',
    'Glide',
    'Grip',
    'Hand',
    'Handling',
    'Judge',
    'LetGo',
    'Lift',
    'Motion',
    'MoveAbove',
    'OpenHand',
    'PlaceTarget',
    'Precondition',
    'Rejection',
    'Rest',
    'Rise',
    'StandStill',
    'ToBase',
    'close_on',
    'grips_on',
    'taking',
    'uncovered',
    'where_asked',
]
