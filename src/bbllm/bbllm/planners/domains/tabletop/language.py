"""The language of a table with an arm: objects have names and positions."""

from collections.abc import Sequence

from bbllm.core.arguments import WAIT_LIMIT_S
from bbllm.core.types import MOVABLE, Scene
from bbllm.planners.domains.language import DomainLanguage
from bbllm.planners.domains.observation_text import HELD, Observation, ShortNames
from bbllm.planners.domains.scene_graph import scene_graph, sensed_only
from bbllm.planners.domains.tabletop.scene_text import table_environment


class TabletopLanguage(DomainLanguage):
    """Uses the names and skills of the world as they are."""

    name = 'tabletop'
    place = 'table'
    robot = 'a robot arm'
    agent = 'rob0'
    syntax = '<rob0>[action] <argument>, or <rob0>[action] where it takes none'

    def environment(self, scene: Scene, *, reach: bool) -> str:
        return table_environment(scene, reach=reach)

    def surroundings(self, scene: Scene) -> str:
        return f'In the hand: {", ".join(scene_graph(scene).held) or "nothing"}.'

    def example(self, scene: Scene) -> tuple[str, str]:
        """Return the pick of the first object that can be picked, else the return to base."""
        movable = next((item.name for item in scene.objects if item.kind in MOVABLE), None)
        if movable is None:
            return 'return to base', '<rob0>[return_to_base]'
        return f'pick {movable}', f'<rob0>[pick] <{movable}>'

    def longest_wait_s(self, scene: Scene) -> float | None:
        waits = any('seconds' in skill.params for skill in scene.skills)
        return WAIT_LIMIT_S if waits else None

    def lists(self, scene: Scene, names: ShortNames, moved: Sequence[str] = ()) -> Observation:
        """Return the lines of the environment, as other planners have them."""
        return {'': table_environment(sensed_only(scene), reach=True).split('\n')}

    def situation(self, scene: Scene, names: ShortNames) -> Observation:
        return {HELD: [names.short(name) for name in scene_graph(scene).held]}
