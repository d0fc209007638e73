"""The language of a household: models name classes, and the world has ids."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bbllm.core.naming import class_of, instance_name
from bbllm.core.protocols import Pass
from bbllm.core.types import Fact, Outcome, Scene, Skill, SkillCall
from bbllm.planners.domains.household import low_level, observation
from bbllm.planners.domains.household.actions import MOVES, WORLD_WORDS, house_skills
from bbllm.planners.domains.household.scene_text import house_environment
from bbllm.planners.domains.language import DomainLanguage
from bbllm.planners.domains.observation_text import WORLD_FORM, Observation, ShortNames
from bbllm.planners.domains.phrases import PHRASES
from bbllm.planners.domains.scene_graph import (
    class_scene,
    classes,
    meant_by,
    scene_graph,
    whereabouts,
)

HOUSE_END = (
    'What no action does, such as to eat, is left out, and all before it is done: what is eaten, '
    'read or used on the body ends in a hand, and what belongs on it lies on it (jam on the '
    'bread, the bread held). Nothing more has to be held. A device has done its work as soon as '
    'it is on; what it made may stay in it.'
)
"""What the end of a task in a household is, for every prompt that asks for its steps."""
EXACT_END = (
    'The task names all that has to be so at the end, and actions that have to be among the '
    'steps. It names objects with their numbers, such as light_1002, and so may steps; the '
    'environment lists them without. The character is you.'
)
"""The same where tasks name single objects and actions, see `Scene.offers_all`."""

SWITCHON, SWITCHOFF = 'switchon', 'switchoff'
PUTTING = frozenset({'putin', 'putback', 'putobjback', 'pour'})
"""Skills that move an object to where a device may be at work."""


class HouseholdLanguage(DomainLanguage):
    """Names classes in place of objects, and actions as the papers do."""

    name = 'household'
    place = 'house'
    robot = 'a robot that keeps house'
    agent = 'char0'
    syntax = (
        '<char0>[action] <object>, or <char0>[action] <object><place> where it takes two, or '
        '<char0>[action] where it takes none'
    )

    def environment(self, scene: Scene, *, reach: bool) -> str:
        return house_environment(scene)

    def surroundings(self, scene: Scene) -> str:
        return house_environment(scene)

    def names(self, scene: Scene) -> Sequence[str]:
        return classes(scene)

    def fact(self, fact: Fact) -> Fact:
        return replace(fact, subject=class_of(fact.subject), object=class_of(fact.object))

    def message(self, text: str, scene: Scene, *, places: bool = True) -> str:
        """
        Return a message without ids, which prompts never contain.

        With *places*, one of several objects of a class has its place: `<plate> (in the sink)`.
        """
        around = scene_graph(scene)

        def written(found: re.Match[str]) -> str:
            name = instance_name(found[1], int(found[2]))
            where = whereabouts(name, around) if len(meant_by(found[1], scene.names)) > 1 else ''
            return f'<{found[1]}>' + (f' ({where})' if where and places else '')

        return WORLD_FORM.sub(written, text)

    def end(self, scene: Scene) -> str:
        return EXACT_END if scene.offers_all else HOUSE_END

    def skills(self, scene: Scene) -> tuple[Skill, ...]:
        return house_skills(scene)

    def example(self, scene: Scene) -> tuple[str, str]:
        name = next(iter(classes(scene)), 'object')
        return f'walk to {name}', f'<char0>[walk] <{name}>'

    def answer_scene(self, scene: Scene) -> Scene:
        return class_scene(scene)

    def synonyms(self, skill: str) -> Sequence[str]:
        """Return the world's word for an action of the paper, and the paper's for the world's."""
        there = [word for here, word in WORLD_WORDS.items() if here == skill]
        return [*there, *(here for here, word in WORLD_WORDS.items() if word == skill)]

    def phrase(self, skill: Skill) -> str:
        return PHRASES.get(skill.name, '')

    def is_taken(self, param: str, skill: Skill) -> bool:
        """Return whether an object is to be put somewhere; others are walked to, or sat on."""
        return param == 'object' and len(skill.params) > 1

    def has_effect(self, skill: Skill) -> bool:
        return skill.name not in MOVES

    def low_level_actions(self, scene: Scene) -> tuple[Skill, ...]:
        return low_level.actions(scene)

    def low_level_call(self, call: SkillCall, scene: Scene, names: ShortNames) -> SkillCall | Pass:
        return low_level.in_world(call, scene, names)

    def as_planned(self, call: SkillCall, names: ShortNames) -> SkillCall:
        return low_level.as_planned(call, names)

    def lists(self, scene: Scene, names: ShortNames, moved: Sequence[str] = ()) -> Observation:
        return observation.lists(scene, names, moved)

    def situation(self, scene: Scene, names: ShortNames) -> Observation:
        return observation.situation(scene, names)

    unlisted = situation

    def lists_effects(self, history: Sequence[Outcome]) -> bool:
        """Return whether the last call changed nothing that a device may do out of sight."""
        *before, last = history
        if last.call.skill in PUTTING:
            running: set[str] = set()
            for call in (outcome.call for outcome in before if outcome.succeeded):
                if call.skill == SWITCHON:
                    running.update(call.args)
                elif call.skill == SWITCHOFF:
                    running.difference_update(call.args)
            return not running
        return last.call.skill != SWITCHON
