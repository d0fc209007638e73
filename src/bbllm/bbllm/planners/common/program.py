"""Programs of ProgPrompt's model as records, and the objects that their words mean."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bbllm.core.arguments import KINDS
from bbllm.core.events import StepFailed, WordGrounded
from bbllm.core.observation import lost_names
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.skill_calls import CallError, check_call, is_pose_like, nearest_first, plain
from bbllm.core.types import Code, PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.grounding import FETCHING, GOING, HANDLING, Policy, choose, ground
from bbllm.planners.common.low_level_hands import failure_cause
from bbllm.planners.domains.scene_graph import (
    classes,
    meant_by,
    scene_graph,
    squeezed,
    unsearched,
    whereabouts,
)


def written(call: SkillCall) -> str:
    """Return a call as programs have it: `grab('salmon')`."""
    return f'{call.skill}({", ".join(map(repr, call.args))})'


@dataclass(frozen=True, slots=True)
class ProgramCondition:
    """The condition of an assertion, such as `'salmon' in 'hands'`."""

    subject: str
    relation: str
    """`close`, `is`, `in` or `on`."""
    object: str = ''
    """A state for `is`, another object or `hands` for `in`; empty for `close`."""
    negated: bool = False

    def __str__(self) -> str:
        no = 'not ' if self.negated else ''
        if self.relation == 'close':
            return f"{no}'close' to {self.subject!r}"
        relation = f'{self.relation} {no}' if self.relation == 'is' else f'{no}{self.relation} '
        return f'{self.subject!r} {relation}{self.object!r}'

    @property
    def words(self) -> tuple[str, ...]:
        if self.relation in ('close', 'is') or self.object == HANDS:
            return (self.subject,)
        return (self.subject, self.object)


HANDS = 'hands'
"""Stands for the hands in a condition."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition, and the calls to make if it is false."""

    condition: ProgramCondition
    recoveries: tuple[SkillCall, ...] = ()


Statement = SkillCall | Assertion


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A comment and the statements up to the next one."""

    text: str
    """The comment; empty for statements before the first."""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The sub-goals of a program, in order; two may have the same comment."""

    sub_goals: tuple[ProgramPart, ...] = ()

    @property
    def calls(self) -> tuple[SkillCall, ...]:
        statements = [item for goal in self.sub_goals for item in goal.statements]
        return tuple(item for item in statements if isinstance(item, SkillCall))

    @property
    def recoveries(self) -> tuple[SkillCall, ...]:
        """All calls below assertions, in order."""
        statements = [item for goal in self.sub_goals for item in goal.statements]
        return tuple(
            call for item in statements if isinstance(item, Assertion) for call in item.recoveries
        )


PUTTING = frozenset({'putin', 'putback', 'pour'})
"""Skills whose first object must be in a hand."""
_NUMBER = re.compile(r'[-+.\d\s,]*')
NAMES_LISTED = 10
"""How many of the nearest classes an error lists."""


@dataclass
class Referents:
    """
    Decides which objects the words of a program mean, call by call.

    As in the published program: a skill that goes to an object chooses by the policy; an object
    to put somewhere must be in a hand, unless `put_unheld` leaves it to the world to refuse it;
    any other word means the object last gone to, the only one, or the choice of the policy.
    Unlike there, `nearest` never grabs what is in a hand already, and handles what is in one.
    """

    policy: Policy
    rng: Random
    context: EpisodeContext
    put_unheld: bool = False
    found: str | None = None
    """The object that the program last went to."""

    def resolve(self, call: SkillCall, scene: Scene) -> SkillCall:
        """Return the call in the scene's own names; raise CallError if there is none."""
        verb = plain(call.skill)
        known = (s for s in scene.skills if verb in (plain(s.name), *map(plain, s.aliases)))
        skill = next(known, None)
        if skill is None or len(call.args) != len(skill.params):
            return check_call(call, scene)  # raises the right error
        args = tuple(
            self._object(i, skill, word, call, scene) if _names(param, word) else word
            for i, (param, word) in enumerate(zip(skill.params, call.args, strict=True))
        )
        return check_call(SkillCall(skill.name, args), scene)

    def _object(self, i: int, skill: Skill, word: str, call: SkillCall, scene: Scene) -> str:
        names = meant_by(word, scene.names)
        held = meant_by(word, scene_graph(scene).held)
        if skill.name in PUTTING and i == 0:
            if held:
                chosen = choose(held, scene, self.policy, self.rng)
                return self._grounded(word, chosen, 'held', len(held))
            if names and not self.put_unheld:
                why = f'so {call.skill} can put it nowhere; it has to be grabbed before.'
                raise CallError(call, Code.NOT_HOLDING, f'{word[:60]} is not in a hand, {why}')
        if skill.name not in GOING and self.found and self._recalls(skill, names, held):
            return self._grounded(word, self.found, 'found', len(names))
        name = ground(word, scene, self.policy, self.rng, context=self.context, skill=skill.name)
        if name is None:
            if plain(word) in map(plain, lost_names(scene)):
                return word  # `check_call` reports where it was last seen
            raise CallError(call, Code.UNKNOWN_OBJECT, absent_text(word, scene))
        if skill.name in GOING:
            self.found = name
        return name

    def _recalls(self, skill: Skill, names: Sequence[str], held: Sequence[str]) -> bool:
        """Whether a word that means one of `names` can mean the object last gone to."""
        if self.found not in names or self.policy is Policy.RANDOM:
            return self.found in names
        if self.found in held:
            return skill.name not in FETCHING or len(names) == 1
        return skill.name not in HANDLING or not held

    def _grounded(self, word: str, name: str, policy: str, among: int) -> str:
        if name != word:
            self.context.emit(WordGrounded(word, name, policy=policy, among=among))
        return name


def absent_text(word: str, scene: Scene) -> str:
    """Return that a word names no object, and the nearest names, or where it may be."""
    known, part = classes(scene), squeezed(word)
    # `bread` is part of `breadslice`, and yet less like it than `bed`.
    alike = [name for name in known if part and part in squeezed(name)]
    if scene.whole:
        near = [*alike, *(name for name in nearest_first(word, known) if name not in alike)]
        names = ', '.join(near[:NAMES_LISTED])
        return f'There is no {word[:60]!r} in the scene. The nearest names: {names}.'
    alike = alike or difflib.get_close_matches(part, known)
    hint = f' The nearest names: {", ".join(alike[:NAMES_LISTED])}.' if alike else ''
    rooms, closed = unsearched(scene)
    where = [f'the rooms {", ".join(rooms)}'] if rooms else []
    where += [f'what is inside the closed {", ".join(closed)}'] if closed else []
    left = f' Not seen yet: {"; ".join(where)}.' if where else ''
    return f'No {word[:60]!r} was seen so far.{hint}{left}'


def absent_names(program: Program, scene: Scene) -> list[str]:
    """Return the arguments of a program's calls that name no object, each once."""
    known = (*scene.names, *lost_names(scene))
    words = [word for call in (*program.calls, *program.recoveries) for word in call.args]
    return [
        word
        for word in dict.fromkeys(words)
        if not _NUMBER.fullmatch(word) and not meant_by(word, known)
    ]


def meant_text(call: SkillCall, made: SkillCall, scene: Scene) -> str:
    """Return where the objects of a call are that were chosen among several; '' for none."""
    chosen = [
        (word if len(call.args) > 1 else 'one', name)
        for word, name in zip(call.args, made.args, strict=True)
        if len(meant_by(word, scene.names)) > 1
    ]
    if not chosen:
        return ''
    around = scene_graph(scene)
    in_hand = around.held if made.skill in HANDLING else ()  # of which it goes without saying
    return ' and '.join(
        f'the {word} {whereabouts(name, around)}' for word, name in chosen if name not in in_hand
    )


@dataclass(frozen=True, slots=True)
class TriedCall:
    """One call of a program and its result."""

    call: SkillCall
    meant: str = ''
    """Which objects its words meant, where there are several; '' if none had to be chosen."""
    cause: str = ''
    """Why it failed, in one sentence; '' if it succeeded."""
    code: Code | None = None
    """What is wrong with the call, if it was refused before it reached the world."""


def attempt(call: SkillCall, referents: Referents, world: World) -> TriedCall:
    scene = world.observe()
    try:
        made = referents.resolve(call, scene)
    except CallError as error:
        return TriedCall(call, cause=str(error), code=error.code)
    outcome = world.execute(made)
    cause = '' if outcome.succeeded else failure_cause(outcome, made)
    return TriedCall(call, meant_text(call, made, scene), cause)


def carry_out(
    call: SkillCall, step: PlanStep, referents: Referents, world: World, context: EpisodeContext
) -> None:
    """Ground a call and execute it; a failure is reported, and the plan continues."""
    tried = attempt(call, referents, world)
    if tried.cause:
        context.emit(StepFailed.of(step, tried.cause, code=tried.code))


def _names(param: str, word: str) -> bool:
    """Return whether an argument names an object: seconds and poses do not."""
    return param not in KINDS and not (param == 'target' and is_pose_like(word))
