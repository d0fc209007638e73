"""A table of a few things in physics, calls as text, and what may happen meanwhile."""

from collections.abc import Callable

from bbllm.arm.driver import ArmDriver
from bbllm.core.approval import AskPerson
from bbllm.core.types import Outcome, SkillCall
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.worlds.tabletop.tabletop import TabletopWorld

RED = ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.15), yaw_deg=20)
PLACE_A = LocationSpec(name='location_A', xy=(0.55, -0.2))
FAR = LocationSpec(name='location_G', xy=(0.85, 0.45))


class Meddler:
    """Does something to a world while it runs, once its time has come."""

    def __init__(self) -> None:
        self.deed: Callable[[], None] | None = None
        self.ready: Callable[[], bool] = lambda: True

    def __call__(self) -> None:
        if self.deed is not None and self.ready():
            deed, self.deed = self.deed, None
            deed()


def world_of(
    *objects: ObjectSpec,
    meddler: Meddler | None = None,
    ask_person: AskPerson | None = None,
    wrap_driver: Callable[[ArmDriver], ArmDriver] = lambda driver: driver,
) -> TabletopWorld:
    scene = SceneFile(objects=objects, locations=(PLACE_A, FAR))
    return TabletopWorld(scene, on_advance=meddler, ask_person=ask_person, wrap_driver=wrap_driver)


def run(world: TabletopWorld, *texts: str) -> list[Outcome]:
    """Execute calls written as `pick red_cube`."""
    words = [text.split(' ', 1) for text in texts]
    calls = [SkillCall(word[0], tuple(word[1:])) for word in words]
    return [world.execute(call) for call in calls]
