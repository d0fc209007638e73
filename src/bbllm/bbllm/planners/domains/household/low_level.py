"""The actions of LLM-State's low-level plans in a household, and what they are in its world."""

from collections.abc import Mapping

from bbllm.core.protocols import PASS, Pass
from bbllm.core.types import Scene, Skill, SkillCall
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.planners.domains.scene_graph import further_skills, scene_graph

WAIT = 'wait'
HOUSE_ACTIONS: Mapping[str, str] = {
    **{'move': 'walk', 'pickup': 'grab', 'placein': 'putin', 'placeon': 'putback'},
    **{word: word for word in ('open', 'close', 'switchon', 'switchoff', 'sit', 'standup')},
}
"""The paper's names of VirtualHome's actions, and VirtualHome's own; the last two are not in the
paper, but tasks of other papers need them. `wait` has no effect there."""
ALIASES: Mapping[str, tuple[str, ...]] = {
    'move': ('walk', 'walk_to', 'go', 'goto', 'go_to', 'move_to', 'find'),
    'pickup': ('pick_up', 'pick', 'grab', 'take'),
    'placein': ('place_in', 'putin', 'put_in'),
    'placeon': ('place_on', 'putback', 'put_on'),
    'switchon': ('switch_on', 'turnon', 'turn_on'),
    'switchoff': ('switch_off', 'turnoff', 'turn_off'),
    'sit': ('sit_on',),
    'standup': ('stand_up',),
}
"""Other words for the actions of a household, those of its world and of this project's other
prompts among them."""
PUT = 'put'
"""A word that may mean `placein` or `placeon`; the place decides, see `in_world`."""


def actions(scene: Scene) -> tuple[Skill, ...]:
    """Return the paper's actions that the world supports, and those that the scene adds."""
    there = {skill.name: skill for skill in scene.skills}
    known = [
        Skill(action, there[word].params, there[word].summary, ALIASES.get(action, ()))
        for action, word in HOUSE_ACTIONS.items()
        if word in there
    ]
    further = further_skills(scene, [*HOUSE_ACTIONS.values()])
    return (*known, *further, Skill(WAIT, (), 'Do nothing for a moment.'))


def in_world(call: SkillCall, scene: Scene, names: ShortNames) -> SkillCall | Pass:
    """
    Return a call with the world's names if it has them; PASS for a `wait`.

    What is `put` goes inside a container that is no surface, else on the place.
    """
    if call.skill == WAIT:
        return PASS
    args = tuple(names.name(arg) or arg for arg in call.args)
    skill = HOUSE_ACTIONS.get(call.skill, call.skill)
    if skill == PUT:
        affords = scene_graph(scene).affords.get(args[-1], frozenset())
        inside = 'surfaces' not in affords and not affords.isdisjoint(('containers', 'can_open'))
        skill = HOUSE_ACTIONS['placein' if inside else 'placeon']
    return SkillCall(skill, args)


def as_planned(call: SkillCall, names: ShortNames) -> SkillCall:
    """Return a call of the world as a low-level plan writes it; the inverse of `in_world`."""
    words = {skill: action for action, skill in HOUSE_ACTIONS.items()}
    return SkillCall(words.get(call.skill, call.skill), tuple(map(names.short, call.args)))
