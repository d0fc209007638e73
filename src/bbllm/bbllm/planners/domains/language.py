"""The seam between planners and kinds of worlds: what prompts and replies say differently."""

from collections.abc import Sequence
from typing import Protocol

from bbllm.core.protocols import Pass
from bbllm.core.types import Fact, Outcome, Scene, Skill, SkillCall
from bbllm.planners.domains.observation_text import Observation, ShortNames
from bbllm.planners.domains.scene_graph import EXPECTED_STATES, scene_graph


class DomainLanguage(Protocol):
    """
    How planners write of one kind of world, a `Scene.domain`, and read what models reply.

    A method with a body is for a world whose names and skills are written as they are.
    """

    name: str
    """The domain, and the name of the folders with its prompts."""
    place: str
    """What a scene is: `table`."""
    robot: str
    """What a model is in prompts: `a robot arm`."""
    agent: str
    """Who acts in a call: `rob0`."""
    syntax: str
    """The forms of a call."""

    # --- what prompts have of a scene ---------------------------------------------------------

    def environment(self, scene: Scene, *, reach: bool) -> str:
        """Return a sensed scene as text; *reach* marks what is out of reach, where that exists."""
        ...

    def surroundings(self, scene: Scene) -> str:
        """Return what is in the hand, and where objects are if no list of names tells that."""
        ...

    def names(self, scene: Scene) -> Sequence[str]:
        """Return what objects are called."""
        return scene.names

    def fact(self, fact: Fact) -> Fact:
        """Return a fact with the names of prompts."""
        return fact

    def message(self, text: str, scene: Scene, *, places: bool = True) -> str:
        """Return a message of the world with the names of prompts, and with *places* of some."""
        return text

    def end(self, scene: Scene) -> str:
        """Return the rule for the end of a task, for prompts that ask for its steps; or ''."""
        return ''

    # --- steps and calls ----------------------------------------------------------------------

    def skills(self, scene: Scene) -> tuple[Skill, ...]:
        """Return what the paper's Brain and Body may use."""
        return scene.skills

    def example(self, scene: Scene) -> tuple[str, str]:
        """Return a step that a scene allows, in words and as a call."""
        ...

    def longest_wait_s(self, scene: Scene) -> float | None:
        """Return the longest single wait [s]; None where there is no such limit."""
        return None

    def answer_scene(self, scene: Scene) -> Scene:
        """Return the scene in whose names a Body answers."""
        return scene

    def synonyms(self, skill: str) -> Sequence[str]:
        """Return other names of a skill, in the paper or in the world."""
        return ()

    def phrase(self, skill: Skill) -> str:
        """Return a phrase for a skill whose name has no spaces; '' for none."""
        return ''

    def is_taken(self, param: str, skill: Skill) -> bool:
        """Return whether a parameter of a skill is an object that a hand can take."""
        return param == 'object'

    def has_effect(self, skill: Skill) -> bool:
        """Return whether a skill of `skills` changes anything in the world."""
        return True

    # --- the lists and low-level plans of LLM-State -------------------------------------------

    def low_level_actions(self, scene: Scene) -> tuple[Skill, ...]:
        """Return the actions of a low-level plan."""
        return scene.skills

    def low_level_call(self, call: SkillCall, scene: Scene, names: ShortNames) -> SkillCall | Pass:
        """Return a call of `low_level_actions` in the world's words, as far as it has names."""
        return SkillCall(call.skill, tuple(names.name(arg) or arg for arg in call.args))

    def as_planned(self, call: SkillCall, names: ShortNames) -> SkillCall:
        """Return a call of the world as a low-level plan writes it."""
        return SkillCall(call.skill, tuple(map(names.short, call.args)))

    def lists(self, scene: Scene, names: ShortNames, moved: Sequence[str] = ()) -> Observation:
        """Return what is visible; the *moved* objects, the latest last, end their lists."""
        ...

    def situation(self, scene: Scene, names: ShortNames) -> Observation:
        """Return where the robot is and what it holds."""
        ...

    def unlisted(self, scene: Scene, names: ShortNames) -> Observation:
        """Return the situation as far as `lists` lack it."""
        return {}

    def attributes(self, name: str, scene: Scene, names: ShortNames) -> tuple[str, ...]:
        """Return what a scene lists of an object: `closed`, `in hand`, `on table1`."""
        around = scene_graph(scene)
        states = [x for x in around.states.get(name, ()) if x not in EXPECTED_STATES]
        places = [
            f'{"in" if relation == "inside" else relation} {names.short(place)}'
            for item, relation, place in around.placed
            if item == name and place not in around.rooms.values()
        ]
        return (*states, *places, *['in hand'] * (name in around.held))

    def lists_effects(self, history: Sequence[Outcome]) -> bool:
        """Return whether scenes list all that the last call of a history, a success, changed."""
        return True

    def observation(self, scene: Scene, names: ShortNames) -> Observation:
        """Return all that is visible, with the robot's place."""
        return {**self.lists(scene, names), **self.unlisted(scene, names)}
