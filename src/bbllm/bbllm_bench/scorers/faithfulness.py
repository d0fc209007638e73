"""
Whether what a planner did keeps to the rules of its world, whatever came of it.

FLTRNN judges plans by it: whether they keep to the rules in their prompt. There plans were
labelled by hand; this definition is for a machine. On the start of a case it does again what the
world did, and checks each call, before it is done, against:

    two_at_once     GRAB while something is held: FLTRNN lets its planners carry one object
    already_open    OPEN of what is open
    inside_closed   GRAB of what is in something closed, however deep
    not_in_room     anything done to an object in another room, without a walk there
    on_while_open   SWITCHON of what is open
    unknown_object  an object that is not in the scene
    unknown_action  an action that is not in the list

A call that the world refused counts too, and so does one that the planner's own program or Body
refused before it reached the world. `two_at_once` is a rule of that paper's prompts alone: people
here have two hands, and other planners are told so. So each planner is judged by the rules that it
was told, and the figure by all rules is reported beside it. On a table only the rules that an
error code reveals are checked, and there is one hand.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.events import Episode, LineDiscarded, RepairBegun, StepFailed
from bbllm.core.registry import load_planner
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Outcome, SkillCall
from bbllm.worlds.household.checks import (
    A,
    ActionSituation,
    Memory,
    Predicate,
    at_hand,
    carried,
    hand_is_full,
    in_state,
    no,
)
from bbllm.worlds.household.graph import CycleError
from bbllm.worlds.household.vocabulary import Action, State
from bbllm.worlds.household.world import HouseholdWorld, line_of
from bbllm_bench.log.results import TWO_AT_ONCE
from bbllm_bench.suites.case import Case, HouseStart

FROM_AFAR = frozenset({
    *(Action.WALK, Action.RUN, Action.FIND, Action.TURNTO, Action.POINTAT, Action.WATCH),
    *(Action.LOOKAT, Action.LOOKAT_SHORT, Action.LOOKAT_LONG, Action.GREET),
})  # fmt: skip
"""Actions that are a way to an object, or need none."""
BY_CODE: Mapping[Code, str] = {
    Code.ALREADY_HOLDING: TWO_AT_ONCE,
    Code.UNKNOWN_OBJECT: 'unknown_object',
    Code.UNKNOWN_SKILL: 'unknown_action',
}
"""Rules that a refusal reveals by its code."""


def _in_other_room(s: ActionSituation) -> bool:
    """Something of the line is in another room; what has none, or is carried, is not."""
    with_me = carried(s.graph, s.character.id)
    try:
        here = s.graph.room_of(s.character.id)
        rooms = [s.graph.room_of(node.id) for node in s.objects if node.id not in with_me]
    except CycleError:
        return False
    return here is not None and any(room not in (here, None) for room in rooms)


BROKEN_BY: Mapping[str, tuple[frozenset[Action], Predicate]] = {
    TWO_AT_ONCE: (frozenset({Action.GRAB}), hand_is_full),
    'already_open': (frozenset({Action.OPEN}), in_state(A, State.OPEN)),
    'inside_closed': (frozenset({Action.GRAB}), no(at_hand(A))),
    'not_in_room': (frozenset(Action) - FROM_AFAR, _in_other_room),
    'on_while_open': (frozenset({Action.SWITCHON}), in_state(A, State.OPEN)),
}
"""By rule: which actions can break it, and when they do."""
RULES = (*BROKEN_BY, 'unknown_object', 'unknown_action')


class OtherCaseError(BbllmError, ValueError):
    """A journal of what cannot be done in its case."""


@dataclass(frozen=True, slots=True)
class Broken:
    """One rule broken by one call."""

    rule: str
    step: int
    """Number of the call, from 0; those count that were refused before they reached the world."""
    call: str
    """As the planner made it, for example `grab(salmon_328)`."""


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """How what was done keeps to the rules."""

    broken: tuple[Broken, ...]
    """In the order of the calls; a call may break several."""
    steps: int
    """How many calls were checked against the rules."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each rule was broken, those that were not left out; in the rules' order."""
        found = Counter(item.rule for item in self.broken)
        return {rule: found[rule] for rule in RULES if found[rule]}

    @property
    def first(self) -> int | None:
        """Number of the first call that broke a rule, None where none did."""
        return self.broken[0].step if self.broken else None


def faithfulness_of(case: Case, episode: Episode) -> Faithfulness:
    """
    Check every call of an episode against the rules.

    A call without an outcome, which the end of the episode cut off, is left out.

    Raises:
        OtherCaseError: What the journal records cannot be done in the case.
    """
    replay = _Replay(case.scene) if isinstance(case.scene, HouseStart) else None
    broken: list[Broken] = []
    steps = 0
    for event in episode.events:
        rules: list[str] = []
        match event.data:
            case Outcome(call=call, code=code) as outcome:
                text = str(call)
                if code not in BY_CODE and replay is not None:
                    rules = replay.broken_by(call, succeeded=outcome.succeeded)
            case LineDiscarded(text, code=Code() as code, rules=named):
                rules = [rule for rule in RULES if rule in named]
            case (
                StepFailed(text=text, code=Code() as code)
                | RepairBegun(text=text, code=Code() as code)
            ):
                pass
            case _:
                continue
        if code in BY_CODE:
            # What nobody has seen may well be shut in somewhere; one mistake is one rule.
            rules = [BY_CODE[code]]
        broken += [Broken(rule, steps, text) for rule in rules]
        steps += 1
    return Faithfulness(tuple(broken), steps)


def untold_rules(case: Case, planner: str) -> tuple[str, ...]:
    """Return the rules that the prompts of a planner do not state in the world of a case."""
    if not isinstance(case.scene, HouseStart):
        return ()
    with suppress(UnknownNameError):  # a planner of somebody else's, of which nothing is known
        return () if load_planner(planner).holds_one else (TWO_AT_ONCE,)
    return (TWO_AT_ONCE,)


class _Replay:
    """The house of a case, in which what succeeded is done again."""

    def __init__(self, start: HouseStart):
        self._household = start.household()
        self._first = HouseholdWorld(start.build(), mode=start.mode).observe()
        """All of the house at the start; a world spells its calls by such a scene."""

    def broken_by(self, call: SkillCall, *, succeeded: bool) -> list[str]:
        """Return the rules that a call breaks now, and do it; none where it means nothing here."""
        graph, line = self._household.graph, None
        with suppress(CallError, KeyError):  # KeyError: it is there no more
            line = line_of(check_call(call, self._first), graph)
        rules: list[str] = []
        if line is not None and len(line.objects) == line.action.arity:
            assert graph.character is not None  # or there were no household
            items = tuple(graph.nodes[node_id] for _, node_id in line.objects)
            situation = ActionSituation(graph, graph.nodes[graph.character], items, Memory())
            rules = [
                rule
                for rule, (actions, breaks) in BROKEN_BY.items()
                if line.action in actions and breaks(situation)
            ]
            if not succeeded or self._household.step(line).succeeded:
                return rules
        if succeeded:
            raise OtherCaseError(
                f'The journal records that {call} succeeded, and it cannot be done in the house '
                'of its case: that is another case.'
            )
        return rules
