"""Scenes of a household in a line or two, for tests of what is read from facts."""

from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, Skill

NOWHERE = Pose(position_m=(0.0, 0.0, 0.0))


def made_scene(
    names: str, *facts: str, skills: str = '', domain: str = 'household', rooms: str = ''
) -> Scene:
    """
    Return a scene.

    Args:
        names: Of what is there, with spaces between them.
        facts: Each as `subject predicate object`.
        skills: Each as `name/number of things`, with spaces between them.
        domain: What kind of world it is.
        rooms: Which names are of rooms.
    """
    known = [item.partition('/') for item in skills.split()]
    kinds = dict.fromkeys(names.split(), Kind.OTHER) | dict.fromkeys(rooms.split(), Kind.LOCATION)
    return Scene(
        tuple(SceneObject(name=name, kind=kind, pose=NOWHERE) for name, kind in kinds.items()),
        tuple(Skill(name, ('object', 'target')[: int(count)]) for name, _, count in known),
        tuple(Fact(*fact.split()) for fact in facts),
        0.0,
        domain=domain,
    )
