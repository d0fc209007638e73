"""A household that executes one script line after the other."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bbllm.worlds.household.checks import ActionSituation, Check, Memory, OnFailure
from bbllm.worlds.household.constraints import Constraint, constrained, with_check
from bbllm.worlds.household.graph import CycleError, Graph, GraphError
from bbllm.worlds.household.rules import EAI_RULES, RULES, SANE_RULES, Rule
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import HANDS, Action


class Mode(StrEnum):
    """Which rules apply; docs/household.md lists the differences."""

    PERSISTENT = 'persistent'
    """VirtualHome's rules over one state, its faults included: that a character sits is written
    and never seen."""
    FRESH = 'fresh'
    """VirtualHome's rules as ProgPrompt uses them, the graph built anew after each step: it is
    seen that a character sits, and where objects were taken from is forgotten."""
    EAI = 'eai'
    """VirtualHome's rules over one state, as the Embodied Agent Interface mends them; it is seen
    that a character sits."""
    SANE = 'sane'
    """Rules that a person would expect."""


def mode_names() -> tuple[str, ...]:
    return tuple(mode.value for mode in Mode)


_RULES = {Mode.EAI: EAI_RULES, Mode.SANE: SANE_RULES}


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one line did."""

    succeeded: bool
    messages: tuple[str, ...] = ()
    """In VirtualHome's words; some steps fail without any, and some succeed with one."""
    broken: str = ''
    """Name of the check that failed, for example `not_close`; `unsupported` where VirtualHome
    itself breaks off. Empty where the step succeeded."""


DONE = StepResult(True)
"""What most lines do."""


class Household:
    """A graph and the rules by which one character changes it."""

    def __init__(
        self,
        graph: Graph,
        *,
        mode: Mode = Mode.SANE,
        constraints: Sequence[Constraint] = (),
    ):
        """
        Take a copy of a graph.

        Raises:
            GraphError: There is no character, or `sane` finds objects that are inside each other
                and in no room.
        """
        self.graph = graph.copy()
        """The household as it is now."""
        self.mode = mode
        self.constraints = tuple(constraints)
        """Exceptions to the rules."""
        if self.graph.character is None:
            raise GraphError(
                'There is no character in the graph; it needs a node of class character that is '
                'INSIDE a room.'
            )
        self.dropped = tuple(sorted(self.graph.drop_rings())) if mode is Mode.SANE else ()
        """Edges INSIDE that formed a ring and are left out, as the object and its place."""
        self._character = self.graph.nodes[self.graph.character]
        self._rules = constrained(_RULES.get(mode, RULES), constraints, self.graph)
        self._memory = Memory()
        if mode is Mode.PERSISTENT:
            self._memory.posture = frozenset(self._character.states)

    def copy(self) -> Household:
        """Return a household that goes on by itself from here, with what this one remembers."""
        other = copy.copy(self)
        other.graph = self.graph.copy()
        other._character = other.graph.nodes[self._character.id]
        other._memory = Memory(dict(self._memory.taken_from), self._memory.posture)
        return other

    def with_checks(self, checks: Mapping[Action, Check]) -> Household:
        """Return a copy in which actions also fail by these checks."""
        other = self.copy()
        other._rules = with_check(self._rules, checks.items())
        return other

    def can(self, line: ScriptLine) -> bool:
        """Return whether a line could be done now; changes nothing, and is quicker than a copy."""
        return self.check(line).succeeded

    def check(self, line: ScriptLine) -> StepResult:
        """Return what a line would do now, and change nothing."""
        return self._follow(line, apply=False)

    def step(self, line: ScriptLine) -> StepResult:
        """Execute a line, or change nothing and return the reason; never raises."""
        result = self._follow(line, apply=True)
        if result.succeeded and self.mode is Mode.FRESH:
            self._memory.taken_from.clear()
        return result

    def _follow(self, line: ScriptLine, *, apply: bool) -> StepResult:
        try:
            return self._follow_rule(line, apply)
        except CycleError:
            return _failed(f'things are inside each other when executing "{line}"', 'unsupported')

    def _follow_rule(self, line: ScriptLine, apply: bool) -> StepResult:
        rule = self._rules[line.action]
        if len(line.objects) != line.action.arity:
            return _failed(
                f'Wrong number of parameters for "{line.action.value}". Got '
                f'{len(line.objects)}, expected {line.action.arity}',
                'wrong_arity',
            )
        nodes = []
        for name, node_id in line.objects:
            node = self.graph.nodes.get(node_id)
            if node is None:
                return _failed(
                    f'<{name}> ({node_id}) cannot be found when executing "{line}"',
                    'not_found' if rule.names_missing else 'unsupported',
                )
            nodes.append(node)
        situation = ActionSituation(self.graph, self._character, tuple(nodes), self._memory)
        broken, texts = _follow(rule, situation, apply)
        if not broken and not texts:
            return DONE
        messages = tuple([f'{text} when executing "{line}"' for text in texts])
        return StepResult(not broken, messages, broken)


def _failed(message: str, broken: str) -> StepResult:
    return StepResult(False, (message,), broken)


def _follow(rule: Rule, s: ActionSituation, apply: bool) -> tuple[str, tuple[str, ...]]:
    """Check a rule and *apply* its effects; return the failed check, '' if none, and messages."""
    while rule.when is not None and rule.instead is not None and not rule.when(s):
        rule = rule.instead
    if rule.recalls_place:
        place = s.memory.taken_from.get(s.objects[0].id)
        if place is not None:
            s.objects = (s.objects[0], s.graph.nodes[place[0]])
    texts: tuple[str, ...] = ()
    for check in rule.checks:
        if check.holds(s):
            continue
        if check.message:
            texts = (*texts, _worded(check.message, s))
        if check.otherwise is OnFailure.FAIL:
            return check.name, texts
        if check.otherwise is OnFailure.SKIP:
            return '', texts
    if apply:
        for effect in rule.effects:
            effect(s)
    return '', texts


def _worded(message: str, s: ActionSituation) -> str:
    words: dict[str, object] = {'C': s.character, **dict(zip('ab', s.objects))}
    if '{held}' in message:
        held = (n for hand in HANDS for n in s.graph.targets(s.character.id, hand))
        words['held'] = ' and '.join(str(s.graph.nodes[n]) for n in held)
    if '{room_' in message:
        for name, node in (('room_C', s.character), ('room_a', s.objects[0])):
            room = s.graph.room_of(node.id)
            words[name] = None if room is None else s.graph.nodes[room]
    return message.format_map(words)
