"""What a page shows of an episode, and what each event changes of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not

from bbllm.core.events import (
    AnswerGiven,
    ApprovalAnswered,
    BeliefsEstimated,
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    FeedbackReceived,
    GoalStated,
    ModelCall,
    ModelReplied,
    PlanMade,
    QuestionAsked,
    RepairBegun,
    SceneRecorded,
    SubGoalBegun,
    WarningRaised,
    describe,
    goal_words,
    is_remark,
)
from bbllm.core.observation import Observed
from bbllm.core.progress import Progress, StepRow, StepState
from bbllm.core.records import to_json
from bbllm.core.text import escape_hidden
from bbllm.core.types import Outcome, Scene

COUNTED = (
    *('calls', 'repairs', 'most_repairs', 'remarks', 'most_remarks'),
    *('models', 'tokens', 'robot_s'),
)
BLANK: Mapping[str, object] = {
    'goal': [],
    **dict.fromkeys(('sub_goals', 'beliefs', 'ending', 'question')),
}
"""Values of an episode that has only begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChange:
    """What an event changes of a page; all of it JSON values without hidden characters."""

    values: Mapping[str, object]
    """Those that are new, by name."""
    rows: Mapping[int, Mapping[str, object]]
    """Those of the plan that are new or changed, by their place."""
    n_rows: int
    """How many there are now."""
    line: Mapping[str, object] | None
    """The event as the page lists it; None for one that is not listed."""


@dataclass(slots=True)
class ShownEpisode:
    """
    Folds the events of one episode into what a page shows.

    The plan is that of `core.progress`, so that page and terminal agree; the page itself folds
    nothing, and can be set to any moment.
    """

    _progress: Progress = field(default_factory=Progress)
    _rows: list[StepRow] = field(default_factory=list)
    _counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    _sub_goals: list[str] = field(default_factory=list)
    _repairs: dict[int, int] = field(default_factory=dict)
    """Number of the repair that replaced a row, by its place."""
    _talk: list[Mapping[str, object]] = field(default_factory=list)
    _planned: bool = False
    _stated: list[str] = field(default_factory=list)
    """What the planner assumes and leaves undone, as it was said before."""

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    @property
    def done_steps(self) -> frozenset[int]:
        """Indices of the steps in force that are done."""
        return frozenset(row.index for row in self._rows if row.state is StepState.DONE)

    def take(self, event: Event) -> PageChange:
        """Take the next event in."""
        activity = self._progress.activity
        self._progress.take(event)
        values = dict(self._values(event.data))
        if self._progress.activity != activity or isinstance(event.data, EpisodeStarted):
            values['activity'] = self._progress.activity
        if sentences := [*self._sentences(event.data)]:
            self._talk += sentences
            values['talk'] = [*self._talk]
        self._planned |= isinstance(event.data, PlanMade) and bool(event.data.steps)
        return PageChange(
            values={name: visible(value) for name, value in values.items()},
            rows=dict(self._changed_rows()),
            n_rows=len(self._rows),
            line=None if isinstance(event.data, Observed) else self._line(event),
        )

    def _values(self, data: EventData) -> Iterator[tuple[str, object]]:
        counts = self._counts
        match data:
            case EpisodeStarted():
                models = f'{data.planner} · Brain {data.brain} · Body {data.body}'
                yield 'episode', {'task': data.task, 'models': f'{models} · {data.episode_id}'}
                yield 'running', True
                most = data.settings.get('feedback_loops')
                counts['most_repairs'] = most if isinstance(most, int) else 0
                counts['most_remarks'] = data.limits.remarks
                yield from BLANK.items()
            case QuestionAsked():
                until_s = self._progress.events[-1].stamp_s + data.timeout_s
                texts = {'text': data.text, 'options': list(data.options)}
                yield 'question', {**texts, 'until_s': until_s}
            case FeedbackReceived():
                yield 'question', None
            case GoalStated():
                yield 'goal', list(data.conditions) or [f'not checked: {data.why}']
            case SubGoalBegun(text, index, of):
                self._sub_goals += ['…'] * (max(index + 1, of) - len(self._sub_goals))
                self._sub_goals[index] = text
                yield 'sub_goals', {'texts': self._sub_goals[: max(index + 1, of)], 'now': index}
            case BeliefsEstimated(attributes, summary):
                lines = [f'{x}: {", ".join(of) or "nothing yet"}' for x, of in attributes.items()]
                yield 'beliefs', {'summary': summary, 'lines': lines}
            case SceneRecorded(moment, scene):
                yield 'scene', scene_value(scene, moment)
            case EpisodeEnded():
                is_good = data.ending.is_success
                yield 'ending', {'text': status_text(data), 'good': is_good}
                yield 'question', None
                yield 'running', False
            case Outcome(duration_s=duration_s):
                counts['calls'] += 1
                counts['robot_s'] = round(counts['robot_s'] + duration_s, 3)
            case RepairBegun(is_loop=True):
                counts['repairs'] += 1
                if self._progress.place is not None:
                    self._repairs[self._progress.place] = data.loop
            case ModelCall():
                counts['models'] += 1
                counts['tokens'] += data.prompt_tokens + data.completion_tokens
        counts['remarks'] += is_remark(data)
        if isinstance(data, EpisodeStarted | Outcome | RepairBegun | ModelCall) or is_remark(data):
            yield 'counts', dict(counts)

    def _sentences(self, data: EventData) -> Iterator[Mapping[str, object]]:
        """Yield what a person and the robot say to each other by an event."""

        def sentence(who: str, text: str, tone: str = '') -> Mapping[str, object]:
            ends = isinstance(data, EpisodeEnded)
            return {'who': who, 'text': text, 'tone': tone, 'after_plan': self._planned or ends}

        match data:
            case EpisodeStarted():
                yield sentence('person', data.task)
            case FeedbackReceived(text, by):
                yield sentence(by or 'person', text)
            case ApprovalAnswered(granted=granted, what=what, reason=reason, by=by):
                verdict = 'approved' if granted else 'denied' if by else 'no answer'
                text = f'{what} {verdict}' + (f': {reason}' if reason else '')
                yield sentence('person' if by else 'robot', text, 'good' if granted else 'bad')
            case QuestionAsked(text, options=options):
                yield {**sentence('robot', text, 'question'), 'options': list(options)}
            case AnswerGiven(text):
                yield sentence('robot', text, 'good')
            case PlanMade(rest=rest, assumed=assumed):
                for text in (f'I assume: {assumed}', f'I leave undone: {rest}'):
                    if not text.endswith(': ') and text not in self._stated:
                        self._stated.append(text)
                        yield sentence('robot', text, 'warning')
            case WarningRaised(text):
                yield sentence('robot', text, 'warning')
            case EpisodeEnded() if data.ending is not Ending.ANSWERED:
                tone, text = 'good' if data.ending.is_success else 'bad', ending_text(data)
                note = {'note': status_text(data)} if data.summary else {}
                yield {**sentence('robot', data.summary or text, tone), **note}

    def _changed_rows(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        rows, old = self._progress.rows, self._rows
        self._rows = list(rows)
        for place in compress(count(), map(is_not, rows, old)):
            yield place, self._row(place)
        for place in range(len(old), len(rows)):
            yield place, self._row(place)

    def _row(self, place: int) -> Mapping[str, object]:
        row = self._rows[place]
        value: dict[str, object] = {
            'index': row.index,
            'text': row.text,
            'state': row.state.value,
            'call': row.call,
            'note': row.note,
            'robot_s': round(row.robot_s, 2),
        }
        if row.note and place in self._repairs:
            value['note'] = f'Repair {self._repairs[place]}: {row.note}'
        return value

    def _line(self, event: Event) -> Mapping[str, object]:
        place = self._progress.place
        line: dict[str, object] = {
            'kind': event.kind.value,
            'stamp_s': event.stamp_s,
            'row': -1 if place is None else place,
            'lines': describe(self._progress.events[-1].data),
        }
        if isinstance(event.data, ModelCall):
            line['call'] = visible(to_json(event.data))
        elif isinstance(event.data, ModelReplied):
            line['reply'] = visible(event.data.text)
        return line


def status_text(ended: EpisodeEnded) -> str:
    """Return the word for how an episode ended, and what is known of its goal."""
    word, goal = ended.ending.name.replace('_', ' ').lower(), goal_words(ended.ending, ended.goal)
    return f'{word} · {goal}' if goal else word


def ending_text(ended: EpisodeEnded) -> str:
    """Return how an episode ended, in one line."""
    words = status_text(ended)
    return f'{words} · {ended.message}' if ended.message else words


def scene_value(scene: Scene, moment: str = '') -> dict[str, object]:
    """Return objects and facts as pages take them; *moment* is `before`, `after` or '' for now."""
    return {
        'objects': [
            {
                'name': item.name,
                'kind': item.kind.value,
                'color': item.color,
                'position_m': [round(float(x), 3) for x in item.pose.position_m],
            }
            for item in scene.objects
        ],
        'facts': [[fact.subject, fact.predicate, fact.object] for fact in scene.facts],
        'held': scene.held,
        'moment': moment,
    }


def visible(value: object) -> object:
    """Return JSON values with what is not visible in their texts escaped; line breaks stay."""
    if isinstance(value, str):
        return escape_hidden(value)
    if isinstance(value, Mapping):
        return {escape_hidden(str(key)): visible(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [visible(item) for item in value]
    return value
