"""Programs of ProgPrompt's model as records, and the objects that their words mean."""

from dataclasses import dataclass
from random import Random

from bbllm.core.events import StepFailed, WordGrounded
from bbllm.core.observation import lost_names
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.skill_calls import CallError, check_call, looks_like_pose, nearest_first, plain
from bbllm.core.types import Code, PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.grounding import Policy, choose, ground
from bbllm.planners.common.low_level_hands import failure_cause
from bbllm.planners.common.scene_graph import classes, meant_by, scene_graph


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


GOING = frozenset({'find', 'walk', 'run', 'walktowards'})
"""Skills that choose an object by the policy; the choice applies from then on."""
PUTTING = frozenset({'putin', 'putback', 'pour'})
"""Skills whose first object must be in a hand."""
NAMES_LISTED = 10
"""How many of the nearest classes an error lists."""


@dataclass
class Referents:
    """
    Decides which objects the words of a program mean, call by call.

    As in the published program: a skill that goes to an object chooses by the policy; an object
    to put somewhere must be in a hand, unless `put_unheld` leaves it to the world to refuse it;
    any other word means the object last gone to, the only one, or the choice of the policy.
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
        if skill.name in PUTTING and i == 0:
            if held := meant_by(word, scene_graph(scene).held):
                chosen = choose(held, scene, self.policy, self.rng)
                return self._grounded(word, chosen, 'held', len(held))
            if names and not self.put_unheld:
                why = f'so {call.skill} can put it nowhere; it has to be grabbed before.'
                raise CallError(call, Code.NOT_HOLDING, f'{word[:60]} is not in a hand, {why}')
        if skill.name not in GOING and self.found and self.found in names:
            return self._grounded(word, self.found, 'found', len(names))
        name = ground(word, scene, self.policy, self.rng, context=self.context)
        if name is None:
            if plain(word) in map(plain, lost_names(scene)):
                return word  # `check_call` reports where it was last seen
            near = ', '.join(nearest_first(word, classes(scene))[:NAMES_LISTED])
            why = f'There is no {word[:60]!r} in the scene. The nearest names: {near}.'
            raise CallError(call, Code.UNKNOWN_OBJECT, why)
        if skill.name in GOING:
            self.found = name
        return name

    def _grounded(self, word: str, name: str, policy: str, among: int) -> str:
        if name != word:
            self.context.emit(WordGrounded(word, name, policy=policy, among=among))
        return name


@dataclass(frozen=True, slots=True)
class TriedCall:
    """One call of a program and its result."""

    call: SkillCall
    cause: str = ''
    """Why it failed, in one sentence; '' if it succeeded."""
    code: Code | None = None
    """What is wrong with the call, if it was refused before it reached the world."""


def attempt(call: SkillCall, referents: Referents, world: World) -> TriedCall:
    try:
        made = referents.resolve(call, world.observe())
    except CallError as error:
        return TriedCall(call, str(error), error.code)
    outcome = world.execute(made)
    return TriedCall(call, '' if outcome.succeeded else failure_cause(outcome, made))


def carry_out(
    call: SkillCall, step: PlanStep, referents: Referents, world: World, context: EpisodeContext
) -> None:
    """Ground a call and execute it; a failure is reported, and the plan continues."""
    tried = attempt(call, referents, world)
    if tried.cause:
        context.emit(StepFailed.of(step, tried.cause, code=tried.code))


def _names(param: str, word: str) -> bool:
    """Return whether an argument names an object: seconds and poses do not."""
    return param != 'seconds' and not (param == 'target' and looks_like_pose(word))
