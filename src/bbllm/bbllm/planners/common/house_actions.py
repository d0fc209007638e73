"""The paper's eighteen actions in a household, and their names in the household's world."""

from collections.abc import Mapping
from dataclasses import replace

from bbllm.core.types import Scene, Skill
from bbllm.planners.common.scene_graph import class_scene

ACTIONS = (
    *('walk', 'run', 'walktowards', 'walkforward', 'turnleft', 'turnright', 'sit', 'standup'),
    *('grab', 'open', 'close', 'put', 'putin', 'switchon', 'switchoff', 'drink', 'touch'),
    'lookat',
)
"""Source: Bhat et al., Grounding LLMs For Robot Task Planning, appendix A, in that order."""
WORLD_WORDS: Mapping[str, str] = {'put': 'putback', 'walktowards': 'walk'}
"""Actions with another name in the world, whose steps go all the way."""
MOVES: Mapping[str, str] = {
    'walkforward': 'Walk one step straight on.',
    'turnleft': 'Turn to the left.',
    'turnright': 'Turn to the right.',
}
"""Actions that change nothing in a household of symbols, which has no positions."""
PHRASES: Mapping[str, str] = {
    **{'walk': 'walk to {}', 'run': 'run to {}', 'sit': 'sit on {}', 'standup': 'stand up'},
    **{'switchon': 'switch on {}', 'switchoff': 'switch off {}', 'lookat': 'look at {}'},
    **{'turnto': 'turn to {}', 'pointat': 'point at {}', 'place': 'place it at {}'},
    **{'putin': 'put {} in {}', 'putback': 'put {} back on {}'},
    'grab_and_putin': 'grab {} and put it in {}',
    'reach': 'move the hand over {}',
}
"""Phrases for actions whose name and objects in a row are no sentence."""


def house_skills(scene: Scene) -> tuple[Skill, ...]:
    """Return the paper's actions that the world supports."""
    there = {skill.name: skill for skill in scene.skills}
    offered = []
    for word in ACTIONS:
        skill = there.get(WORLD_WORDS.get(word, word))
        if word in MOVES:
            offered.append(Skill(word, (), MOVES[word]))
        elif skill is not None:
            offered.append(replace(skill, name=word))
    return tuple(offered)


def shown_to_body(scene: Scene) -> Scene:
    """Return the scene for a Body to answer in: classes and the paper's actions."""
    return replace(class_scene(scene), skills=house_skills(scene))
