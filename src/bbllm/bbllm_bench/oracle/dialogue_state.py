"""
What a person wants after all turns and remarks: sentences with their goals, on their tables.

Earlier turns are read again, oldest first, each on the table as it was then, so that a fragment
such as `no, the other one` has the sentence that it corrects. A sentence that was refused is none.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.conversation import Turn
from bbllm.core.events import Ending
from bbllm_bench.oracle.clauses import MAX_CHARACTERS, names_in
from bbllm_bench.oracle.corrections import Table, Utterance, correction, is_marked, without_openers
from bbllm_bench.oracle.instruction import Reader
from bbllm_bench.oracle.lessons import unwanted_in
from bbllm_bench.oracle.past import Past, moved_by, rolled_back, undone_by
from bbllm_bench.oracle.questions import is_question
from bbllm_bench.oracle.table_goals import (
    Act,
    Arrange,
    AskError,
    RefusalError,
    Select,
    TableGoal,
    TableObject,
    Use,
)
from bbllm_bench.oracle.talk import kind_of_talk
from bbllm_bench.oracle.vocabulary import words_of

_OF_THE_START = ('moved(', 'shifted(', 'turned(', 'at_place_of(')
"""Begins of conditions on the scene at the start of an episode, which comes later than the
sentence that a fragment corrects."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted at the end of an episode."""

    goals: tuple[TableGoal, ...]
    backs: tuple[Arrange, ...] = ()
    """What goes back where it was, since a correction left it out."""
    is_checkable: bool = True
    """Whether conditions can state it."""


@dataclass
class DialogueState:
    """The conversation up to a task, on the table as it was when that began."""

    turns: Sequence[Turn]
    objects: Mapping[str, TableObject]
    held: str | None = None
    utterance: Utterance | None = field(default=None, init=False)
    """The sentence that a fragment would correct."""
    _about: list[tuple[str, ...]] = field(default_factory=list, init=False)
    """What each task was about."""
    past: Past = field(init=False)
    """The turns before the task."""

    def __post_init__(self) -> None:
        tables = [(dict(self.objects), self.held)]
        for turn in reversed(self.turns):
            tables.append(rolled_back(*tables[-1], turn))
        for k, (turn, (objects, held)) in enumerate(zip(self.turns, tables[:0:-1])):
            answers = {remark.question: remark.text for remark in turn.remarks}
            table = Table(objects, held, answers, self._past(k, objects))
            self._take(turn, table)
        self.past = self._past(len(self.turns), self.objects)

    def _past(self, k: int, objects: Mapping[str, TableObject]) -> Past:
        kinds = {name: item.kind for name, item in objects.items()}
        turns = tuple(self.turns[:k])
        last = self._about[-1] if self._about else ()
        if turns and turns[-1].ending == Ending.ANSWERED.name:
            # `where is the red cube?` `put it on A`, `what is on A?` `put it on B`
            found = (names_in(text, objects) for text in (turns[-1].text, turns[-1].reply))
            asked, shown = (tuple(n for n in names if objects[n].movable) for names in found)
            last = asked if len(asked) == 1 else shown or asked or last
        recent = dict.fromkeys(name for names in self._about[-2:] for name in names)
        return Past(turns, kinds, last or moved_by(turns), (*recent,))

    def _take(self, turn: Turn, table: Table) -> None:
        if is_no_task(turn.text, table.objects):
            return
        try:
            self.utterance = understood(turn.text, self.utterance, table)
            for remark in turn.remarks:
                if not remark.question and not is_no_task(remark.text, table.objects):
                    self.utterance = added(remark.text, self.utterance, table) or self.utterance
            self._about.append(self.utterance.patients)
        except RefusalError:
            if not is_marked(turn.text, table.objects):
                self.utterance = None

    def begun(self, text: str, answers: Mapping[str, str]) -> Utterance:
        """Return what a task asks for; raises as `read_instruction` does."""
        table = Table(self.objects, self.held, answers, self.past)
        return understood(text, self.utterance, table)

    def wanted(self, utterance: Utterance) -> Wanted:
        """Return what is to be done for a sentence."""
        later = utterance.table.objects is not self.objects  # a sentence of an earlier turn
        moved = self.past.before(1)
        if later and any(isinstance(goal, Use) for goal in utterance.goals):
            raise RefusalError('This was done in part. Write the whole sentence.')
        names = [name for name in utterance.dropped if not later or name in moved]
        reader = Reader(utterance.table.objects, utterance.table.held)
        backs = []
        for name in names:
            if name == utterance.table.held:
                continue
            spot = reader.place_of(name)
            stated = f'not moved({name})'
            if later:
                stated = f'on({name}, {spot})' if spot in self.objects else f'moved({name})'
            backs.append(Arrange('spots', (Select(name, (name,)),), (spot,), stated=(stated,)))
        texts = [text for goal in utterance.goals for text in getattr(goal, 'stated', ())]
        is_checkable = not (later and any(map(_of_the_start, texts)))
        return Wanted(utterance.goals, tuple(backs), is_checkable)


def is_no_task(text: str, objects: Mapping[str, TableObject]) -> bool:
    """Return whether a text is talk or a question."""
    if kind_of_talk(text) or '?' in text[-2:]:
        return True
    return is_question(words_of(text[:MAX_CHARACTERS], objects))


def understood(text: str, before: Utterance | None, table: Table) -> Utterance:
    """
    Return what a sentence or a fragment asks for.

    Raises:
        AskError: It has several readings.
        RefusalError: It is not understood.
    """
    if len(text) > MAX_CHARACTERS:
        return Utterance.read(text, table)
    marked = is_marked(text, table.objects)
    if before is None:
        return Utterance.read(without_openers(text, table.objects) if marked else text, table)
    if marked and (found := correction(text, before, table)):
        return found
    try:
        return Utterance.read(text, table)
    except AskError:
        raise
    except RefusalError as error:
        found = None if marked else correction(text, before, table)
        if found is None and marked:
            why = f'I do not know what of "{before.text}" this changes.'
            raise RefusalError(why) from error
        if found is None:
            raise
        return found


def added(text: str, utterance: Utterance | None, table: Table) -> Utterance | None:
    """
    Return what is meant after a remark on a task under way; None where it changes no sentence.

    Raises as `understood` does.
    """
    if utterance is None or len(text) > MAX_CHARACTERS:
        return None
    if undone_by(text) and utterance.patients:
        gone = (*utterance.dropped, *utterance.patients)
        return replace(utterance, goals=(), dropped=tuple(dict.fromkeys(gone)))
    if (unwanted := unwanted_in(text, table.objects)) and (found := _without(unwanted, utterance)):
        return found
    if not is_marked(text, table.objects):
        return _superseded(text, utterance)
    begun = replace(table, objects=imagined(utterance.goals, utterance.table.objects))
    try:
        found = correction(text, utterance, begun)
    except AskError:
        raise
    except RefusalError:
        return None
    if found is None or found.table.objects is utterance.table.objects:
        return found
    # It begins where the sentence before it ends.
    goals = tuple(map(_without_start, found.goals))
    kept = [goal for goal in utterance.goals if not {*_names(goal)} <= {*found.patients}]
    return replace(found, table=utterance.table, goals=(*kept, *goals), dropped=utterance.dropped)


def _without(names: Collection[str], utterance: Utterance) -> Utterance | None:
    """Return a sentence without some of the objects that it leaves the choice of."""
    goals: list[TableGoal] = []
    for goal in utterance.goals:
        items = [_lessened(item, names) for item in goal.items]
        if not all(items):
            return None
        goals.append(replace(goal, items=tuple(filter(None, items))) if items else goal)
    if tuple(goals) == utterance.goals or any(getattr(goal, 'stated', ()) for goal in goals):
        return None
    return replace(utterance, goals=tuple(goals), dropped=(*utterance.dropped, *names))


def _lessened(item: Select, names: Collection[str]) -> Select | None:
    left = tuple(name for name in item.names if name not in names)
    return replace(item, names=left) if len(left) >= max(1, item.count or 0) else None


def _superseded(text: str, utterance: Utterance) -> Utterance | None:
    """Return a further sentence on objects of the one before, in place of what that asked."""
    past = replace(utterance.table.past, last=utterance.patients)
    reader = Reader(utterance.table.objects, utterance.table.held, utterance.table.answers, past)
    reader.named = {*utterance.patients}
    try:
        goals = reader.sentence(text)
    except RefusalError:
        return None
    new = Utterance(text, utterance.table, (*goals,))
    if not all(isinstance(goal, Arrange) for goal in (*goals, *utterance.goals)):
        return None
    if {*utterance.patients} <= {*new.patients}:
        return replace(new, dropped=utterance.dropped)
    return None


def _without_start(goal: TableGoal) -> TableGoal:
    """Return a goal without conditions on the scene at the start."""
    if isinstance(goal, Arrange) and any(map(_of_the_start, goal.stated)):
        return replace(goal, stated=())
    return goal


def _of_the_start(condition: str) -> bool:
    return condition.removeprefix('not ').startswith(_OF_THE_START)


def _names(goal: TableGoal) -> list[str]:
    return [name for item in goal.items for name in item.names]


def imagined(
    goals: Sequence[TableGoal], objects: Mapping[str, TableObject]
) -> dict[str, TableObject]:
    """Return the table with single objects where goals put them."""
    found = dict(objects)
    for goal in goals:
        names = _names(goal)
        if isinstance(goal, (Act, Use)) or len(names) != 1:
            continue
        if goal.shape != 'spots' or len(goal.spots) != 1:
            continue
        (name,), (spot,) = names, goal.spots
        if spot in objects and (there := objects[spot].at):
            x, y = there[:2]
        elif spot not in objects:
            x, y = map(float, spot.split()[:2])
        else:
            continue
        found[name] = replace(found[name], at=(x, y, found[name].height / 2), below=())
    return found
