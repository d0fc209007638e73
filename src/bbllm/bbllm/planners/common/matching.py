"""Similarity of texts, and the ablation that turns steps into calls without a language model."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import mul

from bbllm.core.arguments import KINDS
from bbllm.core.errors import ParseError
from bbllm.core.observation import lost_names
from bbllm.core.protocols import Embedder
from bbllm.core.types import Kind, PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.call_grammar import checked
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.scene_graph import squeezed

Vector = Sequence[float]

UNTAKABLE = (Kind.LOCATION, Kind.FIXTURE, Kind.HAND)
"""Kinds that a hand cannot take, and that a parameter `object` cannot be."""
SECONDS = '1'
"""Duration of a wait whose step has no number."""
_NUMBER = r'[-+]?(?:\d+(?:\.\d+)?|\.\d+)'
_FIRST_NUMBER = re.compile(rf'(?<![\w.]){_NUMBER}')
_NEXT = rf'[\s,]+{_NUMBER}'
_POSE = re.compile(rf'(?<![\w.]){_NUMBER}(?:(?:{_NEXT}){{6}}|(?:{_NEXT}){{2,3}})')


class MatchingBody:
    """
    Takes the skill and the object whose words are nearest to the step's.

    Source: Bhat et al., section 4, "Need for Body-LLM", and Table 3. As there, the cosine between
    embeddings chooses skill and object separately. So it never passes, ignores the hand and which
    of two names is the target, and cannot resolve `it`.

    Where the paper is silent: the nearest of a skill's texts counts (name, aliases, summary). A
    parameter `object` is one that a hand can take, except for household skills of one parameter;
    two objects are in the order of the step. A `target` takes three, four or seven numbers in a
    row, `seconds` the first, or 1. Bodies with the same embedder may share `known` vectors.
    """

    reads_calls = False  # the ablation maps each step by its words

    def __init__(self, embedder: Embedder, *, known: dict[str, Vector] | None = None):
        self.name = matching_name(embedder)
        self.embedder = embedder
        self._known = {} if known is None else known

    def map(self, step: PlanStep, scene: Scene) -> SkillCall:
        """Return the nearest call; raise ParseError if it takes no such numbers; see `Body`."""
        language = language_of(scene)
        scene = language.answer_scene(scene)
        skills = list(filter(language.has_effect, scene.skills))
        if not skills or not scene.objects:
            raise ParseError('The scene has no skills or no objects that a step could be near.')
        texts = {skill: _texts_of(skill, scene) for skill in skills}
        names = {name: words_of(name) for name in (*scene.names, *lost_names(scene))}
        wanted = self._embed(words_of(step.text), [*chain(*texts.values()), *names.values()])

        def nearness(text: str) -> float:
            return cosine(wanted, self._known[text])

        # Of equals, the first in the scene: so the same step gives the same call.
        skill = max(skills, key=lambda item: max(map(nearness, texts[item])))
        args: list[str] = []
        for param in skill.params:
            numbers = _numbers(param, step.text)
            allowed = _candidates(param, skill, scene)
            free = [name for name in allowed if name not in args] or allowed
            args.append(numbers or max(free, key=lambda name: nearness(names[name])))
        call = SkillCall(skill.name, _in_order(args, skill, step.text, scene))
        return checked(call, scene)

    def _embed(self, text: str, others: Iterable[str]) -> Vector:
        """Return the vector of a step, and cache those of all other texts."""
        new = [text, *dict.fromkeys(other for other in others if other not in self._known)]
        wanted, *vectors = self.embedder.embed(new).vectors
        self._known.update(zip(new[1:], vectors, strict=True))
        return wanted


def matching_name(embedder: Embedder) -> str:
    return f'{embedder.name} matching'


def cosine(a: Vector, b: Vector) -> float:
    length = math.hypot(*a) * math.hypot(*b)
    return math.fsum(map(mul, a, b)) / length if length else 0.0


def _texts_of(skill: Skill, scene: Scene) -> list[str]:
    # The names of a household have no spaces: `switchon` means `switch on`.
    phrase = language_of(scene).phrase(skill)
    names = map(words_of, (skill.name, *skill.aliases))
    return [*filter(None, [*names, skill.summary.strip(), words_of(phrase.replace('{}', ' '))])]


def words_of(name: str) -> str:
    return ' '.join(name.replace('_', ' ').split())


def _candidates(param: str, skill: Skill, scene: Scene) -> Sequence[str]:
    if language_of(scene).is_taken(param, skill):
        takable = [item.name for item in scene.objects if item.kind not in UNTAKABLE]
        return (*(takable or scene.names), *lost_names(scene))
    return (*scene.names, *lost_names(scene))


def _in_order(args: Sequence[str], skill: Skill, text: str, scene: Scene) -> tuple[str, ...]:
    if len(args) == 2:
        words = squeezed(text)
        first, second = (words.find(squeezed(name)) for name in args)
        swapped = (args[1], args[0])
        if 0 <= second < first and all(
            name in _candidates(param, skill, scene)
            for param, name in zip(skill.params, swapped, strict=True)
        ):
            return swapped
    return tuple(args)


def _numbers(param: str, text: str) -> str:
    """Return the numbers of a step for a parameter; empty if it takes a name."""
    if param == 'seconds':
        first = _FIRST_NUMBER.search(text)
        return first[0] if first else SECONDS
    if param in KINDS:
        found = re.search(KINDS[param].pattern, text.lower())
        return found[0] if found else ''
    pose = _POSE.search(text) if param == 'target' else None
    return pose[0] if pose else ''
