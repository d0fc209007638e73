"""
A skill of the arm as one object.

It has signature, preconditions, effects, risk, constraints, motion and words.

Whoever deals with calls (executor, plan check, approval gate, safety envelope, grammars, prompts)
asks this object and knows no skill by its name. A skill plans a motion as data and never has the
driver, so that a skill of another package moves the arm through the same gate and envelope.

A precondition is judged by what the scene states of objects and hand (`Judge.SCENE`), by outlines
and the room for the fingers (`Judge.GEOMETRY`), or by the ways of the arm (`Judge.ARM`). Those of
the first kind are judged by `motions.refusal`, in their order, and have their sentences here.
Sentences of the other two contain measures, so that they are made where these are computed.

Effects are facts to remove and to add. `{object}` and the like stand for names, `*` for any.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from bbllm.core.types import Code, Fact, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.grasps import Hand
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion

Words = Mapping[str, str]
"""What fills the braces of a sentence."""


class Judge(Enum):
    """What a precondition is judged by."""

    SCENE = 'scene'
    GEOMETRY = 'geometry'
    ARM = 'arm'


@dataclass(frozen=True, slots=True)
class Precondition:
    """One condition that has to be met before a skill is tried."""

    means: str
    """What has to be so."""
    code: Code
    sentence: str = ''
    """Of the refusal, with words in braces; empty where it is made with the measures."""
    judge: Judge = Judge.SCENE
    unmet: Callable[[SkillCall, Scene], Words | None] | None = None
    """Returns what fills the sentence where it is not so, None where it is; of those that are
    judged by the scene alone."""

    def refusal(self, words: Words) -> Rejection:
        return Rejection(self.code, self.sentence.format_map(words))


@dataclass(frozen=True, slots=True)
class Handling:
    """What a call does to objects, as constraints in plain words judge it."""

    takes: tuple[str, ...] = ()
    """Objects that it moves."""
    verb: str = 'take'
    """How: `it would take red_cube`."""
    onto: tuple[str, ...] = ()
    """What something is put on."""
    sets_down: bool = False
    """Whether it ends with what was held out of the hand."""
    drops: bool = False
    """Whether that falls on what is below it."""


def _of_all_it_names(call: SkillCall) -> Handling:
    return Handling(takes=call.args, onto=call.args)


def _offered(objects: Sequence[SceneObject], asked: Sequence[str]) -> bool:
    return True


def _is_sure(call: SkillCall, scene: Scene, found: Rejection | None) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSkill:
    """
    A skill of the arm; an entry point of the group `bbllm.skills` names one.

    A skill has either a motion (`plan`) or two halves, which are calls of other skills.
    """

    signature: Skill
    """Name, parameters and aliases, and the summary that prompts show. The name of a parameter is
    its kind: `core.arguments.KINDS`, `target` for a name or a pose, any other for a name."""
    needs: tuple[Precondition, ...] = ()
    """In the order in which they are judged."""
    removes: tuple[Fact, ...] = ()
    adds: tuple[Fact, ...] = ()
    halves: tuple[SkillCall, ...] = ()
    """The calls that it consists of; their needs and effects come in addition."""
    plan: Callable[[SkillCall, Scene, Hand], Motion | Rejection] | None = None
    """Returns the motion of a checked call whose preconditions by the scene are met, or why there
    is none."""
    handling: Callable[[SkillCall], Handling] = _of_all_it_names
    """What it does to objects; by default all that it names is taken, and put on."""
    risks: Callable[[SkillCall, Scene], Iterable[str]] = lambda call, scene: ()
    """Yields why a call is risky, in clauses such as `it puts a on top of b`."""
    moves: bool = True
    """Whether it moves anything. What moves nothing needs no approval: the executor neither
    closes the hand nor switches a controller for it, whatever the call before has left undone."""
    slides: bool = False
    """Whether it moves objects along what they stand on; simulations of a table that was observed
    assume a friction at which they slide."""
    words: tuple[str, ...] = ()
    """Other words for it in a step, beside its name and aliases: each phrase is a set of words,
    all of which the step contains."""
    forms: tuple[str, ...] = ()
    """Phrases that are a call of it, beside its name with its arguments: `pick up {}`."""
    offered: Callable[[Sequence[SceneObject], Sequence[str]], bool] = _offered
    """Whether it is offered on a table, by the objects and by the names that a scene file asks
    for."""
    uses_grip: bool = False
    """Whether its motion depends on how the hand holds an object, for plans checked ahead."""
    imagine: Callable[[SkillCall, Scene, Motion | None], Scene] | None = None
    """Returns the scene after a call that succeeds, where that is more than its effects: a motion
    where it is known."""
    is_sure: Callable[[SkillCall, Scene, Rejection | None], bool] = _is_sure
    """Whether the geometry of a call can be judged before its turn, and with a rejection, whether
    that is certain."""

    @property
    def name(self) -> str:
        return self.signature.name


def where_asked(name: str) -> Callable[[Sequence[SceneObject], Sequence[str]], bool]:
    """Offer a skill where a scene file asks for it by its name."""
    return lambda objects, asked: name in asked
