"""The actions of a household, in the paper's words and in those of the world."""

from collections.abc import Mapping
from dataclasses import replace

from bbllm.core.types import Scene, Skill
from bbllm.planners.domains.scene_graph import further_skills

ACTIONS = (
    *('walk', 'run', 'walktowards', 'walkforward', 'turnleft', 'turnright', 'sit', 'standup'),
    *('grab', 'open', 'close', 'put', 'putin', 'switchon', 'switchoff', 'drink', 'touch'),
    'lookat',
)
"""Source: Bhat et al., Grounding LLMs For Robot Task Planning, appendix A, in that order."""
WORLD_WORDS: Mapping[str, str] = {'put': 'putback', 'walktowards': 'walk'}
"""Actions with another name in the world, whose steps go all the way."""
SAME: Mapping[str, str] = {'run': 'walk', 'walktowards': 'walk'}
"""Actions that do what another one does in a household of symbols."""
MOVES: Mapping[str, str] = {
    'walkforward': 'Walk one step straight on.',
    'turnleft': 'Turn to the left.',
    'turnright': 'Turn to the right.',
}
"""Actions that change nothing in a household of symbols, which has no positions."""


def house_skills(scene: Scene) -> tuple[Skill, ...]:
    """Return the paper's actions that the world supports, and those that the scene adds."""
    there = {skill.name: skill for skill in scene.skills}
    offered = []
    for word in ACTIONS:
        skill = there.get(WORLD_WORDS.get(word, word))
        if word in MOVES:
            offered.append(Skill(word, (), MOVES[word]))
        elif skill is not None:
            summary = f'As {SAME[word]}.' if SAME.get(word) in there else skill.summary
            offered.append(replace(skill, name=word, summary=summary))
    own = {WORLD_WORDS.get(word, word) for word in ACTIONS}
    return (*offered, *further_skills(scene, own))


def shown_to_body(scene: Scene) -> Scene:
    """Return the scene of a house for a Body, with the paper's actions."""
    return replace(scene, skills=house_skills(scene))
