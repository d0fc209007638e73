"""Embedding matching: the ablation in which no language model makes calls of steps."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import mul

from bbllm.core.errors import ParseError
from bbllm.core.missing_objects import lost_names
from bbllm.core.protocols import Embedder
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Kind, PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.house_actions import MOVES, PHRASES
from bbllm.planners.common.scene_graph import HOUSEHOLD, squeezed

Vector = Sequence[float]

UNTAKABLE = (Kind.LOCATION, Kind.FIXTURE, Kind.HAND)
"""What a parameter `object` cannot be: it names what a hand can take."""
SECONDS = '1'
"""For a wait whose step says no number."""
_NUMBER = r'[-+]?\d*\.?\d+'
_FIRST_NUMBER = re.compile(rf'(?<![\w.]){_NUMBER}')
_NEXT = rf'[\s,]+{_NUMBER}'
_POSE = re.compile(rf'(?<![\w.]){_NUMBER}(?:(?:{_NEXT}){{6}}|(?:{_NEXT}){{2,3}})')


class MatchingBody:
    """
    Takes the skill and the object whose words are nearest to the step's.

    Source: Bhat et al., Grounding LLMs For Robot Task Planning Using Closed-loop State Feedback,
    section 4, "Need for Body-LLM", and its Table 3. As there, skill and object are chosen
    separately by the cosine between embeddings, the best of each makes the call, and there is
    nothing besides. So, on purpose, as what it is compared for:

    - it never passes: a step that no skill does becomes some call all the same;
    - it does not know what is in the hand, nor which of two names is meant where one is wanted:
      in `place red_cube on blue_cube` both cubes are candidates for the target;
    - what a step means but does not say (`it`, `the other one`) is lost on it.

    What the paper leaves open: a skill is as near as the nearest of its texts (its name, each
    alias, its summary). A parameter called `object` is chosen among what a hand can take, but for
    what a household only walks to, opens or the like; any other among all objects. A skill of
    two things, as to put one into the other, takes the two that are nearest, in the order in
    which the step says them: nothing goes into itself. Numbers are no names and have no embedding
    worth the word, so a parameter that may be given in numbers takes those of the step: a
    `target` three, four or seven in a row, `seconds` the first, or 1 where there is none.

    Args:
        embedder: Makes vectors of texts.
        known: Vectors of skills and objects by their words, which stay the same from step to
            step; may be shared by Bodies with the same embedder. A new one by default.
    """

    def __init__(self, embedder: Embedder, *, known: dict[str, Vector] | None = None):
        self.name = matching_name(embedder)
        self._embedder = embedder
        self._known = {} if known is None else known

    @property
    def embedder(self) -> Embedder:
        """What makes vectors of texts, for planners that match more than steps."""
        return self._embedder

    def map(self, step: PlanStep, scene: Scene) -> SkillCall:
        """
        Return the call that is nearest.

        Raises:
            ParseError: The scene has no skills or no objects, or the step's numbers are none
                that the skill takes.
            ModelError: The embedder could not be reached.
        """
        skills = _skills_of(scene)
        if not skills or not scene.objects:
            raise ParseError('The scene has no skills or no objects that a step could be near.')
        texts = {skill: _texts_of(skill, scene) for skill in skills}
        names = {name: _words(name) for name in (*scene.names, *lost_names(scene))}
        wanted = self._look_up(_words(step.text), [*chain(*texts.values()), *names.values()])

        def nearness(text: str) -> float:
            return cosine(wanted, self._known[text])

        # Of equals, the first that the scene lists: so the same step gives the same call.
        skill = max(skills, key=lambda item: max(map(nearness, texts[item])))
        args: list[str] = []
        for param in skill.params:
            numbers = _numbers(param, step.text)
            allowed = _candidates(param, skill, scene)
            free = [name for name in allowed if name not in args] or allowed
            args.append(numbers or max(free, key=lambda name: nearness(names[name])))
        call = SkillCall(skill.name, _as_said(args, skill, step.text, scene))
        try:
            return check_call(call, scene)
        except CallError as error:
            if error.code is Code.OBJECT_LOST:
                return call  # the world refuses it, and the Brain hears why
            raise ParseError(str(error)) from error

    def _look_up(self, text: str, others: Iterable[str]) -> Vector:
        """Return the vector of a step, and see to it that those of all else are known."""
        new = [text, *dict.fromkeys(other for other in others if other not in self._known)]
        wanted, *vectors = self._embedder.embed(new).vectors
        self._known.update(zip(new[1:], vectors, strict=True))
        return wanted


def matching_name(embedder: Embedder) -> str:
    """Return what reports call a Body that matches with this embedder."""
    return f'{embedder.name} matching'


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of the angle between two vectors, 0 where one of them is nothing."""
    length = math.hypot(*a) * math.hypot(*b)
    return math.fsum(map(mul, a, b)) / length if length else 0.0


def _texts_of(skill: Skill, scene: Scene) -> list[str]:
    # The names of a household have no spaces: `switchon` is said `switch on`.
    said = PHRASES.get(skill.name, '') if scene.domain == HOUSEHOLD else ''
    texts = [_words(skill.name), *map(_words, skill.aliases), skill.summary.strip()]
    texts.append(_words(said.replace('{}', ' ')))
    return [text for text in texts if text]


def _words(name: str) -> str:
    """Write names as a sentence would: `red_cube` as `red cube`."""
    return ' '.join(name.replace('_', ' ').split())


def _skills_of(scene: Scene) -> Sequence[Skill]:
    """Return what a step may become: in a household no moves that change nothing there."""
    if scene.domain != HOUSEHOLD:
        return scene.skills
    return [skill for skill in scene.skills if skill.name not in MOVES]


def _candidates(param: str, skill: Skill, scene: Scene) -> Sequence[str]:
    # In a household one walks to rooms, opens the fridge, sits on the sofa; only what is put
    # somewhere has to be in a hand.
    in_hand = scene.domain != HOUSEHOLD or len(skill.params) > 1
    if param == 'object' and in_hand:
        takable = [item.name for item in scene.objects if item.kind not in UNTAKABLE]
        return (*(takable or scene.names), *lost_names(scene))
    return (*scene.names, *lost_names(scene))


def _as_said(args: Sequence[str], skill: Skill, text: str, scene: Scene) -> tuple[str, ...]:
    """Return two things in the order in which a step says them, where it says both."""
    if len(args) == 2:
        said = squeezed(text)
        first, second = (said.find(squeezed(name)) for name in args)
        swapped = (args[1], args[0])
        if 0 <= second < first and all(
            name in _candidates(param, skill, scene)
            for param, name in zip(skill.params, swapped, strict=True)
        ):
            return swapped
    return tuple(args)


def _numbers(param: str, text: str) -> str:
    """Return what of a step a parameter takes as numbers; empty where it takes a name."""
    if param == 'seconds':
        first = _FIRST_NUMBER.search(text)
        return first[0] if first else SECONDS
    pose = _POSE.search(text) if param == 'target' else None
    return pose[0] if pose else ''
