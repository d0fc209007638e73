"""The parts of a program that ProgPrompt's model writes, as records; nothing is ever executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from bbllm.core.events import StepFailed, WordGrounded
from bbllm.core.missing_objects import lost_names
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.skill_calls import CallError, check_call, looks_like_pose, nearest_first, plain
from bbllm.core.types import Code, PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.grounding import Policy, choose, ground
from bbllm.planners.common.scene_graph import classes, meant_by, scene_graph


@dataclass(frozen=True, slots=True)
class Call:
    """A call such as `grab('salmon')`."""

    verb: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f'{self.verb}({", ".join(map(repr, self.args))})'


@dataclass(frozen=True, slots=True)
class ProgramCondition:
    """What an assertion asserts, such as `'salmon' in 'hands'`."""

    subject: str
    """For `close`, what is to be close."""
    relation: str
    """`close`, `is`, `in` or `on`."""
    object: str = ''
    """A state for `is`, another thing or `hands` for `in`; empty for `close`."""
    negated: bool = False

    def __str__(self) -> str:
        no = 'not ' if self.negated else ''
        if self.relation == 'close':
            return f"{no}'close' to {self.subject!r}"
        relation = f'{self.relation} {no}' if self.relation == 'is' else f'{no}{self.relation} '
        return f'{self.subject!r} {relation}{self.object!r}'

    @property
    def words(self) -> tuple[str, ...]:
        """The things that it is about."""
        if self.relation in ('close', 'is') or self.object == HANDS:
            return (self.subject,)
        return (self.subject, self.object)


HANDS = 'hands'
"""Stands for the hands in a condition."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition, and what is done where it does not hold."""

    condition: ProgramCondition
    recoveries: tuple[Call, ...] = ()


Statement = Call | Assertion


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A comment and what stands below it up to the next one."""

    text: str
    """The comment; empty for what stands before the first."""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The sub-goals of a program, in order; two may have the same comment."""

    sub_goals: tuple[ProgramPart, ...] = field(default=())

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in order, without those that only repair."""
        statements = [item for goal in self.sub_goals for item in goal.statements]
        return tuple(item for item in statements if isinstance(item, Call))


GOING = frozenset({'find', 'walk', 'run', 'walktowards'})
"""Skills that choose a thing by the policy; what they choose is meant from then on."""
PUTTING = frozenset({'putin', 'putback', 'pour'})
"""Skills whose first thing must be in a hand."""
NAMES_TOLD = 10
"""How many of the nearest classes an error lists."""


class Referents:
    """
    Decides which things the words of a program mean, call by call.

    As in the published program: to go somewhere chooses by the policy, and that is remembered;
    what is put somewhere must be in a hand; any other word means what was gone to last where it
    is of that class, the only one where there is only one, and else what the policy chooses.
    """

    def __init__(
        self,
        policy: Policy,
        rng: Random,
        context: EpisodeContext,
        *,
        put_unheld: bool = False,
    ):
        """
        Begin with nothing gone to.

        Args:
            policy: How one of several things of a class is chosen.
            rng: Decides where chance does.
            context: Is told what was chosen.
            put_unheld: Whether the world is to refuse what is put and is in no hand, and not
                this.
        """
        self.found: str | None = None
        """What the program has gone to last."""
        self._policy = policy
        self._rng = rng
        self._context = context
        self._put_unheld = put_unheld

    def resolve(self, call: Call, scene: Scene) -> SkillCall:
        """
        Return the call in the scene's own names.

        Raises:
            CallError: No such skill, nothing of that class, or what is to be put is in no hand.
        """
        made = SkillCall(call.verb, call.args)
        skill = _skill(call.verb, scene)
        if skill is None or len(call.args) != len(skill.params):
            return check_call(made, scene)  # says what is wrong with it
        args = tuple(
            self._thing(i, skill, word, made, scene) if _names(param, word) else word
            for i, (param, word) in enumerate(zip(skill.params, call.args, strict=True))
        )
        return check_call(SkillCall(skill.name, args), scene)

    def _thing(self, i: int, skill: Skill, word: str, call: SkillCall, scene: Scene) -> str:
        if skill.name in PUTTING and i == 0 and not self._left_to_world(word, scene):
            return self._held(word, call, scene)
        names = meant_by(word, scene.names)
        if skill.name not in GOING and self.found in names:
            assert self.found is not None
            return self._told(word, self.found, 'found', len(names))
        name = ground(word, scene, self._policy, self._rng, context=self._context)
        if name is None:
            if plain(word) in map(plain, lost_names(scene)):
                return word  # who checks the call says where it was last
            raise CallError(call, Code.UNKNOWN_OBJECT, _nothing_of(word, scene))
        if skill.name in GOING:
            self.found = name
        return name

    def _left_to_world(self, word: str, scene: Scene) -> bool:
        return self._put_unheld and not meant_by(word, scene_graph(scene).held)

    def _held(self, word: str, call: SkillCall, scene: Scene) -> str:
        held = meant_by(word, scene_graph(scene).held)
        if held:
            return self._told(
                word, choose(held, scene, self._policy, self._rng), 'held', len(held)
            )
        if not meant_by(word, scene.names):
            raise CallError(call, Code.UNKNOWN_OBJECT, _nothing_of(word, scene))
        raise CallError(
            call,
            Code.NOT_HOLDING,
            f'{word[:60]} is not in a hand, so {call.skill} can put it nowhere; it has to be '
            'grabbed before.',
        )

    def _told(self, word: str, name: str, policy: str, among: int) -> str:
        if name != word:
            self._context.emit(WordGrounded(word, name, policy=policy, among=among))
        return name


@dataclass(frozen=True, slots=True)
class CallFailure:
    """Why a call did not do what it says."""

    cause: str
    """One sentence."""
    code: Code | None = None
    """What is wrong with the call, where it was refused before the world heard of it."""


def attempt(call: Call, referents: Referents, world: World) -> CallFailure | None:
    """Ground a call and execute it; None where it succeeded."""
    try:
        made = referents.resolve(call, world.observe())
    except CallError as error:
        return CallFailure(str(error), error.code)
    outcome = world.execute(made)
    if outcome.succeeded:
        return None
    return CallFailure(outcome.message or f'{made} failed with code {outcome.code.name}.')


def carry_out(
    call: Call, step: PlanStep, referents: Referents, world: World, context: EpisodeContext
) -> None:
    """Ground a call and execute it; what cannot be done is told, and the plan goes on."""
    failed = attempt(call, referents, world)
    if failed is not None:
        context.emit(StepFailed.of(step, failed.cause, code=failed.code))


def _skill(verb: str, scene: Scene) -> Skill | None:
    for skill in scene.skills:
        if plain(verb) in (plain(skill.name), *map(plain, skill.aliases)):
            return skill
    return None


def _names(param: str, word: str) -> bool:
    """Return whether an argument names a thing: seconds and poses do not."""
    return param != 'seconds' and not (param == 'target' and looks_like_pose(word))


def _nothing_of(word: str, scene: Scene) -> str:
    near = nearest_first(word, classes(scene))[:NAMES_TOLD]
    return f'There is no {word[:60]!r} in the scene. The nearest names: {", ".join(near)}.'
