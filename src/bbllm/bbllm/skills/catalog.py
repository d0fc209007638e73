"""The skills of the arm by name, in the order in which prompts list them."""

from collections.abc import Mapping, Sequence
from functools import cache

from bbllm.core.skill_calls import plain
from bbllm.core.types import SceneObject, Skill, SkillCall
from bbllm.skills.close_gripper import CLOSE_GRIPPER
from bbllm.skills.grab_and_putin import GRAB_AND_PUTIN
from bbllm.skills.open_gripper import OPEN_GRIPPER
from bbllm.skills.pick import PICK
from bbllm.skills.place import PLACE
from bbllm.skills.reach import REACH
from bbllm.skills.return_to_base import RETURN_TO_BASE
from bbllm.skills.skill import ArmSkill
from bbllm.skills.wait import WAIT

OWN = (
    *(PICK, PLACE, REACH, RETURN_TO_BASE, WAIT, OPEN_GRIPPER, CLOSE_GRIPPER),
    GRAB_AND_PUTIN,
)
"""The skills of bbllm."""
SKILLS: tuple[Skill, ...] = tuple(each.signature for each in OWN if each.offered((), ()))
"""What every table offers."""


@cache
def arm_skills() -> Mapping[str, ArmSkill]:
    """Return all skills by name."""
    return {each.name: each for each in OWN}


def find_skill(name: str) -> ArmSkill | None:
    """Return the skill of that name, in any spelling; None where the arm has none."""
    return arm_skills().get(plain(name))


def skills_for(objects: Sequence[SceneObject], asked: Sequence[str] = ()) -> tuple[Skill, ...]:
    """Return what a table offers, by its objects and the names that its scene file asks for."""
    return tuple(each.signature for each in arm_skills().values() if each.offered(objects, asked))


def moves(call: SkillCall) -> bool:
    """Return whether a call may move anything; one of an unknown skill may."""
    skill = find_skill(call.skill)
    return skill is None or skill.moves
