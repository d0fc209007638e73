"""What feedback teaches: which things and places to leave out, and what was done already."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from bbllm.llm.offline import words as w
from bbllm.llm.offline.goals import Goal
from bbllm.llm.offline.instructions import read_instruction
from bbllm.llm.offline.phrases import Context, RefusalError, noun_phrase
from bbllm.llm.offline.sight import Sight
from bbllm.llm.offline.tokens import tokenize

_FINAL = re.compile(
    r'out of (?:the )?(?:workspace|reach)|unreachable|not reachable|cannot (?:be )?reach|no path|'
    r'no way|not graspable|cannot be (?:grasped|picked)|no room|no clearance|too wide|no object|'
    r'is no pose|pose .{1,80} is too far away|the yaw in',
    re.IGNORECASE,
)
"""Trying again would end in the same way."""
_TAKEN = re.compile(r'occupied|taken|not free', re.IGNORECASE)
_NEGATIVE = re.compile(
    r"\b(not|don['’]?t|never|avoid|skip|without|except|leave|keep (?:off|away))\b"
)
_EARLIER = re.compile(r'step \d+ \((?P<step>.*?)\): (?P<text>.*)$')
_TOLD = re.compile(r'Before this step a person said: (.*)')
"""Nothing failed: the cause is what a person said."""
_HOPELESS = frozenset({'would_not_rise', 'fixed_or_heavy', 'failed_grasp_twice'})
"""What is believed of things that are not worth another try."""
_FAR = 'out_of_workspace'
"""What is believed of things and places that the arm cannot get to."""
_TRIES = 2
"""How often one step may fail for a reason that might pass."""


@dataclass
class Lessons:
    """What this episode has taught so far."""

    bad_things: dict[str, str] = field(default_factory=dict)
    """Things that cannot be picked, and the sentence that said so."""
    bad_places: dict[str, str] = field(default_factory=dict)
    """Places, names or `x y` of a pose, where nothing can be put, and why."""
    taken: set[str] = field(default_factory=set)
    """Places that were found occupied, which must be cleared if nothing else will do."""
    cramped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Things that could not be picked for what is beside them, and what that is."""
    done: Counter[str] = field(default_factory=Counter)
    """Texts of the steps that are behind the robot."""
    moved: set[str] = field(default_factory=set)
    """Things that the robot has placed, so that they are known to be within reach."""
    preferred: list[str] = field(default_factory=list)
    """Things and places that a person asked for."""
    wishes: list[Goal] = field(default_factory=list)
    """What a person asked for beyond the task."""
    notes: list[str] = field(default_factory=list)
    """What was not understood."""


def learn(sight: Sight) -> Lessons:
    """Read what a prompt tells of feedback, new and earlier, and of what is believed."""
    lessons = Lessons()
    _learn_beliefs(sight, lessons)
    if sight.error_step is None:
        return lessons
    for text in sight.plan[: sight.error_step]:
        lessons.done[text] += 1
        if text.startswith('place '):
            lessons.moved.add(text.split()[1])
    tries: Counter[str] = Counter()
    for line in sight.earlier:
        if found := _EARLIER.match(line):
            cause, *said = found['text'].split(' A person said: ')
            if told := _TOLD.match(cause):
                said += told[1].split(' / ')
            else:
                _learn_failure(found['step'], cause, sight, lessons, tries)
            for text in said:
                _learn_wish(text, sight, lessons)
    if sight.error_step < len(sight.plan) and not _TOLD.match(sight.feedback):
        _learn_failure(sight.plan[sight.error_step], sight.feedback, sight, lessons, tries)
    for text in sight.human:
        _learn_wish(text, sight, lessons)
    return lessons


def _learn_beliefs(sight: Sight, lessons: Lessons) -> None:
    for name, predicate, state in sight.believed:
        why = f'It is believed that ({name} {predicate} {state}).'
        if predicate == 'is' and (state in _HOPELESS or state == _FAR):
            lessons.bad_things.setdefault(name, why)
        if (predicate, state) == ('is', _FAR):
            lessons.bad_places.setdefault(name, why)


def _learn_failure(
    step: str, cause: str, sight: Sight, lessons: Lessons, tries: Counter[str]
) -> None:
    tries[step] += 1
    verb, _, rest = step.partition(' ')
    final = _FINAL.search(cause) is not None or tries[step] >= _TRIES
    beside = tuple(
        item.name
        for item in sight.things
        if item.movable and item.name != rest and re.search(rf'\b{item.name}\b', cause)
    )
    if verb == 'pick' and beside and tries[step] < _TRIES:
        lessons.cramped[rest] = beside
    elif verb == 'pick' and final:
        lessons.bad_things.setdefault(rest, cause)
    elif verb == 'place':
        place = place_of(step)
        if _TAKEN.search(cause):
            lessons.taken.add(place)
            if tries[step] >= _TRIES:
                lessons.bad_places.setdefault(place, cause)
        elif final:
            lessons.bad_places.setdefault(place, cause)


def place_of(step: str) -> str:
    """Return the place that a `place` step of this model's own names; `x y` for a pose."""
    found = re.match(r'place \S+ (?:on|at) (.*)$', step)
    words = found[1].split() if found else step.split()[-1:]
    return ' '.join(words[:2])


def _learn_wish(text: str, sight: Sight, lessons: Lessons) -> None:
    """Take in `not location_B`, `use aqua_cube instead of the red one` or a new task."""
    understood = False
    said_no = False
    for clause in re.split(r'[,.;!]|\bbut\b|\band (?=not|never|do not|avoid|use)', text.lower()):
        wanted, instead, unwanted = clause.partition('instead of')
        if not instead:
            wanted, instead, unwanted = clause.partition('rather than')
        negative = _NEGATIVE.search(clause)
        goes_on = said_no and re.match(r'\s*(?:or|nor|and)\b', clause)
        said_no = bool(negative or goes_on) and not instead
        if instead:
            bad, good = _names_in(unwanted, sight), _names_in(wanted, sight)
        elif said_no:
            bad, good = _names_in(clause[negative.end() if negative else 0 :], sight), []
        elif re.match(r'\s*(please\s+)?(use|take|prefer|try)\b', clause):
            bad, good = [], _names_in(clause, sight)
        else:
            continue
        understood = understood or bool(bad or good)
        why = f'a person said: {text}'
        for name in bad:
            lessons.bad_things.setdefault(name, why)
            lessons.bad_places.setdefault(name, why)
        lessons.preferred += good
    if not understood:
        try:
            lessons.wishes += read_instruction(text, sight)
        except RefusalError:
            lessons.notes.append(text)


def _names_in(text: str, sight: Sight) -> list[str]:
    """Find all things that a piece of text speaks of, by name or by description."""
    tokens = [token for token in tokenize(text, sight) if token not in w.PREPOSITIONS]
    known = {item.name for item in sight.things}
    describing = known | w.COLORS | {*w.ISH} | w.NOUNS | w.ARTICLES | w.ALL | w.A | {',', 'and'}
    phrase = [token for token in tokens if token in describing]
    while phrase and phrase[0] in (',', 'and'):
        phrase.pop(0)
    try:
        selects = noun_phrase(phrase, Context(sight)) or ()
    except RefusalError:
        return []
    return [name for select in selects for name in select.names]
