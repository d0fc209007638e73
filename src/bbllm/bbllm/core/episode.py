"""
One episode: a planner at work on a task, inside limits, on record, and stoppable.

The run wraps the world and the models, so that no planner can forget a limit, an entry in the
journal or a cancel:

    run = EpisodeRun(task, planner='brain_body', brain='gpt-4o', body='gpt-4o', sinks=[journal])
    planner = BrainBody(run.model(brain, 'brain'), BodyLLM(run.model(body, 'body')))
    episode = run.execute(planner, world)
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from bbllm.core.approval import RequestKind, denied, withdrawn
from bbllm.core.cancel import POLL_S, CancelToken
from bbllm.core.circles import CircleGuard
from bbllm.core.denials import DenialGuard, Proposal
from bbllm.core.dialogue import (
    MOST_QUESTIONS,
    SAFEST,
    AskingRules,
    summary_of,
)
from bbllm.core.errors import (
    AnsweredError,
    BbllmError,
    BudgetError,
    CancelledError,
    GaveUpError,
    LostNodeError,
    ModelError,
    NeedsPersonError,
    NoGoalError,
    ParseError,
    SceneError,
    SpokenError,
    TaskError,
    WentInCirclesError,
    WorldError,
)
from bbllm.core.events import (
    AnswerGiven,
    Ending,
    Episode,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    FeedbackReceived,
    GoalStated,
    Limits,
    ModelCall,
    ModelReplied,
    PlanMade,
    PromptText,
    QuestionAsked,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    WarningRaised,
    steps_left,
)
from bbllm.core.goals import AS_FAR, GIVEN, NOT_CHECKED, GoalFinding, TaskGoal
from bbllm.core.journal import episode_of
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.naming import scene_fault
from bbllm.core.observation import Observed, held_names, observed
from bbllm.core.prompt_size import SentPrompts, cut_of
from bbllm.core.protocols import (
    ChatModel,
    Embedder,
    Embeddings,
    EventSink,
    GoalKeeper,
    ModelRequest,
    OnText,
    OverlappingGoals,
    Planner,
    Rehearsal,
    Reply,
    ScenePicture,
    Situation,
    World,
    WorldFeatures,
    features_of,
    in_episode,
    picture_of,
    waits_for_person,
)
from bbllm.core.stop_words import is_stop
from bbllm.core.tasks import make_remark
from bbllm.core.text import (
    count_of,
    cut,
    half_width,
    strip_hidden,
)
from bbllm.core.types import (
    Code,
    Kind,
    Outcome,
    PlanStep,
    Scene,
    SkillCall,
    Status,
    Task,
)
from bbllm.core.version import VERSION
from bbllm.core.world_wrapper import WorldWrapper

PLACE = ('place', ('target',))
"""Name and parameters of the skill that sets down what is held."""
PLAN_CHARACTERS = 400
"""How much of a denied plan the task quotes [characters]."""
NAMED_STEPS = 3
"""How many passed steps the message of an ending quotes."""
STEP_CHARACTERS = 80
"""How much of each [characters]."""
ENDINGS = (
    (CancelledError, Ending.CANCELLED),
    (BudgetError, Ending.OUT_OF_BUDGET),
    ((ModelError, ParseError), Ending.MODEL_FAILED),
    (WentInCirclesError, Ending.WENT_IN_CIRCLES),
    (GaveUpError, Ending.GAVE_UP),
)
"""The ending of an episode by what ended it; others are faults of the world."""
LATE_S = 2.0
"""How long the end of an episode waits for a goal that is still being read [s]."""
STOP_AGAIN_S = 0.001
"""How soon a call that was cancelled is stopped again if it has not returned [s]."""
STOP_SELDOM_S = 0.05
"""How seldom that becomes; each pause is twice the one before [s]."""


def _within(what: str, used: int, limit: int | None) -> None:
    if limit is not None and used >= limit:
        raise BudgetError(f'The limit of {limit} {what} is used up.')


TAKEN_UP = 'Taken up: the plan was made anew with it.'
TOO_LATE = 'Too late for the plan, which had ended; the goal that is checked follows it.'
STOPPED = 'Stopped.'
ANSWERS = 'It answers the question; the planner goes on with it.'
NOT_READ = 'Too late: the episode ended before the planner read it.'
NOT_UNDERSTOOD = "Not understood by the planner's model; the plan stays as it was."
"""What can become of a remark."""


class RemarkFate:
    """What becomes of one remark; any thread may wait for it."""

    def __init__(self) -> None:
        self._settled = threading.Event()
        self._what = ''
        self.taken = False
        """Whether the planner has read it."""

    def settle(self, what: str) -> None:
        """State what became of it; the first statement counts."""
        if not self._settled.is_set():
            self._what = what
            self._settled.set()

    def wait(self, timeout_s: float) -> str:
        """Return what became of it, or what was still waited for after a time [s]."""
        if self._settled.wait(timeout_s):
            return self._what
        if self.taken:
            return (
                f"The planner has read it. Its model's new plan was waited for {timeout_s:g} s "
                'and is still to come.'
            )
        return (
            f'It waits for the planner, which has not read it within {timeout_s:g} s: a motion '
            'under way ends first, and some planners read no remarks. What becomes of it is on '
            'record.'
        )


@dataclass(frozen=True, slots=True)
class Denial(FeedbackReceived):
    """A person's denial, whose text is the reason; '' for none."""

    what: str = ''
    """What was denied, in words."""

    @property
    def sentence(self) -> str:
        return self.text and f'The person did not approve {self.what}: {self.text}'


Recall = Callable[[Task, Scene, Sequence[Event]], Mapping[str, str]]
"""Returns texts of earlier episodes by their ids, for a task, the scene before it and the events
so far."""
Kept = TypeVar('Kept', bound=EventData)


class EpisodeRun:
    """
    One episode under way; also the planner's EpisodeContext.

    Its record is also its account: what was used is counted from the events.
    """

    def __init__(
        self,
        task: Task,
        *,
        planner: str,
        brain: str,
        body: str,
        limits: Limits | None = None,
        sinks: Sequence[EventSink] = (),
        settings: Mapping[str, object] | None = None,
        keep_prompts: bool = True,
        stream: bool = False,
        recall: Recall | None = None,
        notices: Sequence[str] = (),
        asking: AskingRules | None = None,
    ):
        self.task = task
        self._notices = notices
        self._recall = recall
        self._recalled: set[str] = set()
        """Ids of what was recalled so far, each put on record once."""
        self._asking_rules = asking
        """How questions are answered; None where nobody answers any."""
        self._question: QuestionAsked | None = None
        """The question that waits for an answer."""
        self._n_questions = 0
        self._language = ''
        """The language of the person; '' for English."""
        self.translate: Callable[[str, str], str] = lambda report, language: report
        """Returns the report at the end in a language."""
        self._keep_prompts = keep_prompts
        """Whether what is sent to models goes on record."""
        self.stream = stream
        """Whether models may be asked and calls announced while the arm moves. What is asked then
        depends on how long it takes, so that a recording could not answer it."""
        self.events: list[Event] = []
        self._limits = limits or Limits()
        self._started_s = time.monotonic()
        self._sinks = list(sinks)
        self._broken: BbllmError | None = None
        """What a sink raised; it receives no more events."""
        self.token = CancelToken(self._check)
        """Ends waiting calls when the episode may not go on: CancelledError, BudgetError where the
        wall time is used up, ConfigError where the journal can no longer be written."""
        self._reported_done = False
        self._lock = threading.RLock()
        self._asking = 0
        """How many model calls are under way."""
        self._ended = False
        self._remarks: list[FeedbackReceived] = []
        """What people and programs have said, within the limit, oldest first."""
        self._fates: list[RemarkFate] = []
        """What became of each of them."""
        self._n_taken = 0
        """How many of them the planner has taken."""
        self._n_in_goal = 0
        """How many of them the goal was read with."""
        self._takes_remarks = False
        """Whether the planner takes remarks while a model is asked."""
        self._reader = threading.local()
        """`known` of it: how many remarks a goal that this thread reads is read with."""
        self._not_understood: dict[str, None] = {}
        self._world: World | None = None
        self._goals: GoalKeeper | None = None
        self._goal: TaskGoal | None = None
        self._reading: Future[None] | None = None
        self._is_due = False
        """Whether the goal is read only once it is needed."""
        """The reading of the goal, where the planner does not wait for it."""
        self.before: Scene | None = None
        self.circles = CircleGuard(enabled=not self._limits.allow_circles)
        self.denials = DenialGuard(ends=not self._limits.allow_circles)
        self._idle = threading.Event()
        self._idle.set()
        self._start = EpisodeStarted(
            episode_id=task.id,
            task=task.instruction,
            planner=planner,
            brain=brain,
            body=body,
            version=VERSION,
            limits=self._limits,
            settings=dict(settings or {}),
        )

    def execute(self, planner: Planner, world: World, goals: GoalKeeper | None = None) -> Episode:
        """
        Run the planner to its end and return the record; errors of this project become endings.

        With *goals*, the goal of the task is stated before the planner runs, or, where a person
        gave the task, once something is to move. The episode is FINISHED only if the settled
        scene meets it.

        Anything else that is raised is a fault of the program: it is put on record and goes on
        up, after the world was stopped.
        """
        self._world, self._goals = world, goals
        self.emit(self._start)
        for notice in self._notices:
            self.warn(notice)
        ending, message, error_type = Ending.WORLD_FAILED, '', ''
        status = self._goal_status(None)
        try:
            self.before = _usable(self._show_scene('before', world.observe()))
            self.token.raise_if_cancelled()
            # Of a person's turns, many are answered, refused or asked about, and need no goal.
            self._is_due = self.talks
            if not self._is_due:
                self._begin_goal(self.before, world)
            guarded = GuardedWorld(self, world)
            try:
                planner.run(self.task, guarded, self)
            except AnsweredError as error:
                self.emit(AnswerGiven(str(error)))
            except GaveUpError as error:
                raise type(error)(f'{error}{self._set_down(guarded)}') from error
            self._take_late()
            if not (self._all(AnswerGiven) and self._is_due):
                self._await_goal()
            still_held = self._set_down(guarded) if self._is_stuck(guarded) else ''
            self.token.raise_if_cancelled()
            after = self._show_scene('after', self._settled())
            ending, message = self._judge(after)
            message += still_held
            status = '' if ending is Ending.ANSWERED else self._goal_status(after)
        except KeyboardInterrupt:
            world.stop()
            ending, message = Ending.CANCELLED, 'Interrupted from the keyboard.'
        except BbllmError as error:
            ending = next((found for kind, found in ENDINGS if isinstance(error, kind)), ending)
            message = str(error)
            error_type = type(error).__name__
            with suppress(BbllmError):  # the picture is not worth a second error
                status = self._goal_status(self._show_scene('after', world.observe()))
        except BaseException as error:
            world.stop()
            error_type = type(error).__name__
            message = f'Fault in the program: {error_type}: {error}'
            raise
        finally:
            if self._reading is not None:
                wait([self._reading], LATE_S)
            for remark in self._remarks[self._n_taken :]:
                self.warn(f'The episode ended before this was read: {remark.text!r}')
            self._settle(NOT_READ, self._n_taken)
            self._settle(TAKEN_UP)
            end = EpisodeEnded(ending, message, error_type, status)
            self.emit(replace(end, summary=self._summary(end)))
        return episode_of(self.events)

    def _summary(self, end: EpisodeEnded) -> str:
        report = summary_of(self.events, end)
        # What was cancelled ends at once, and an answer is in the language of the person already.
        if not self._language or end.ending in (Ending.ANSWERED, Ending.CANCELLED):
            return report
        return self.translate(report, self._language)

    def model(
        self, inner: ChatModel, role: str, check: Callable[[], object] | None = None
    ) -> ChatModel:
        """
        Wrap a model so that its calls are counted, recorded and ended by a cancel.

        `role` is `brain` or `body`; `check` is a further condition for going on (`CancelToken`).
        """
        situation = Situation(
            task=self.task,
            planner=self._start.planner,
            events=lambda: tuple(self.events),
            remarks=lambda: tuple(self._remarks[: self._known]),
            not_understood=self._report_not_understood,
            talks=lambda: self.talks,
            asks=lambda: self.asks,
        )
        model = in_episode(inner, situation)
        return GuardedModel(self, model, role, self.warn, check, self.interruption)

    def embedder(self, inner: Embedder, role: str) -> Embedder:
        """Wrap an embedder likewise."""
        return GuardedEmbedder(self, inner, role)

    def cancel(self, reason: str) -> None:
        """Stop the episode from any thread; the arm stops and keeps its grip."""
        self.token.cancel(reason)
        if self._world is not None:
            self._world.stop()
            threading.Thread(target=self._keep_stopping, daemon=True).start()

    def add_feedback(self, text: str, by: str = '', question: str = '') -> RemarkFate:
        """
        Queue a remark of a person, or of the program *by*; the planner reads it at its next step.

        A word such as `stop` stops the episode at once. A remark answers the question that waits,
        where one does, by a number or in words; with *question*, that one alone. A request to a
        model that is under way is cut short for it, if the planner listens. Returns what becomes
        of it. Raises TaskError where the text cannot be taken, see `make_remark`, or comes too
        late. What the planner reads is what people see, so the refusal is on record too.
        """
        if is_stop(text):
            self.cancel(f'A person wrote: {text.strip()}' if not by else f'{by} wrote: {text}')
            stopped = RemarkFate()
            stopped.settle(STOPPED)
            return stopped
        with self._lock:
            waiting = self._question
            try:
                remark = self._remark(make_remark(text), by, question, waiting)
                self._need_room(remark)
            except TaskError as error:
                self.warn(f'A remark was refused. {error}')
                raise
            self.emit(remark)
            self.denials.begin_anew()
            fate = self._queue_remark(remark)
            if waiting is not None:
                self._question = None
                fate.settle(ANSWERS)
        return fate

    @staticmethod
    def _remark(
        text: str, by: str, question: str, waiting: QuestionAsked | None
    ) -> FeedbackReceived:
        """Return a remark as it is meant; raises TaskError for an answer without its question."""
        if waiting is not None and question in ('', waiting.text):
            return FeedbackReceived(waiting.option_of(text), by, waiting.text)
        now = f'The question that waits is {waiting.text!r}.' if waiting else 'No question waits.'
        if question:
            raise TaskError(f'{question!r} does not wait for an answer any more. {now}')
        if text.rstrip('.)').isdecimal():
            raise TaskError(f'{text!r} is the number of an option. {now} Write what is meant.')
        return FeedbackReceived(text, by)

    def take_denial(self, denial: Denial) -> None:
        """
        Take a person's denial for a remark, while the limit lasts.

        A reason such as `stop` stops the episode at once.
        """
        if is_stop(denial.text):
            self.cancel(f'A person wrote: {denial.text.strip()}')
            return
        with suppress(TaskError):
            self._need_room(denial)
            self._queue_remark(denial)

    def _need_room(self, remark: FeedbackReceived) -> None:
        """Raise TaskError where a remark comes too late."""
        if self._ended:
            raise TaskError('The episode has ended; this came too late.')
        limit = self._limits.remarks
        if len(self._remarks) >= limit:
            raise TaskError(
                f'All {limit} remarks and denials that may change the plan are used up; this came '
                f'too late: {remark.text!r}. A stop still works, and so does a new task.'
            )

    def _queue_remark(self, remark: FeedbackReceived) -> RemarkFate:
        fate = RemarkFate()
        self.circles.begin_anew()
        with self._lock:
            self._remarks.append(remark)
            self._fates.append(fate)
        return fate

    def _settle(self, what: str, start: int = 0) -> None:
        """State what became of the remarks from a number on, where that is still open."""
        for fate in self._fates[start:]:
            fate.settle(what)

    def _report_not_understood(self, text: str) -> None:
        """Put on record, once, that a model did not understand a remark."""
        if text in self._not_understood:
            return
        self._not_understood[text] = None
        self.warn(f"The planner's model did not understand: {text!r}. The plan stays as it was.")
        for remark, fate in zip(self._remarks, self._fates, strict=True):
            if remark.text == text:
                fate.settle(NOT_UNDERSTOOD)

    def add_model_call(self, call: ModelCall, text: str | None = None) -> None:
        """Put a model call and its reply on record, also one made in another process."""
        with self._lock:  # the reply follows its call, whatever other threads record
            self.emit(call if self._keep_prompts else replace(call, prompt=()))
            if text is not None:
                self.emit(ModelReplied(call.role, text))

    # --- EpisodeContext ---------------------------------------------------------------------

    def emit(self, data: EventData) -> None:
        """
        Record an event and pass it to every sink; raises where a step may not begin.

        What comes after the end, from a request that ignored its cancel, is dropped.
        """
        if isinstance(data, StepBegun):
            self.token.raise_if_cancelled()
        with self._lock:
            if self._ended:
                return
            self._ended = isinstance(data, EpisodeEnded)
            if isinstance(data, PlanMade):
                data = replace(data, revision=len(self._all(PlanMade)))
            elif isinstance(data, RepairBegun):
                kind = data.rehearsed, data.remarked
                alike = [x for x in self._all(RepairBegun) if (x.rehearsed, x.remarked) == kind]
                data = replace(data, loop=1 + len(alike))
            event = Event(time.time(), data)
            self.events.append(event)
            if isinstance(data, PlanMade):
                for fate in self._fates:
                    if fate.taken:
                        fate.settle(TAKEN_UP)
            for sink in tuple(self._sinks):
                try:
                    sink(event)
                except BbllmError as error:
                    # The other sinks still receive the rest; the token ends the episode.
                    self._sinks.remove(sink)
                    self._broken = error

    def withdraw(self, condition: str, reason: str) -> None:
        """Withdraw a condition of the goal; see `EpisodeContext`."""
        if self._goal is None or self._goals is None or self.before is None:
            return
        try:
            goal = self._goals.withdraw(self._goal, condition, reason, self.before)
        except NoGoalError as error:
            self.warn(str(error))
            return
        self._goal = goal
        self.emit(GoalStated(goal.in_words, str(goal), self._goals.by))

    def warn(self, text: str) -> None:
        """Record information for people that changes nothing."""
        self.emit(WarningRaised(text))

    def report_done(self) -> None:
        """Report that the planner considers the task complete, however little it did."""
        self._reported_done = True

    def unfinished(self, scene: Scene | None = None) -> str:
        """Return what speaks against the end of the plan; see `EpisodeContext`."""
        self._await_goal()
        seen = self._settled() if scene is None else scene
        return ' '.join(self._open_ends(seen, mendable=True, predicted=scene is not None))

    def take_human_feedback(self) -> tuple[FeedbackReceived, ...]:
        """Return the remarks since the last call, and add them to the task and its goal."""
        with self._lock:
            new = tuple(self._remarks[self._n_taken :])
            self._n_taken = len(self._remarks)
            self.task = self._task_with(self._n_taken)
        for fate in self._fates[: self._n_taken]:
            fate.taken = True
        self._renew_goal()
        return new

    def current(self, task: Task) -> Task:
        """
        Return the task with what was added to it, as far as the planner has taken that.

        It also has what worked in similar situations, by the failures so far.
        """
        task = replace(task, added=self.task.added)
        if self._recall is None or self.before is None:
            return task
        worked = self._recall(task, self.before, self.events)
        if new := [id_ for id_ in worked if id_ not in self._recalled]:
            self._recalled.update(new)
            self.warn(f'Shown to the Brain from earlier episodes: {", ".join(new)}.')
        return replace(task, worked=tuple(worked.values()))

    @property
    def spoken(self) -> bool:
        """Whether there is a remark that the planner has not taken yet."""
        return len(self._remarks) > self._n_taken

    @property
    def talks(self) -> bool:
        """Whether a person gave the task; see `EpisodeContext`."""
        return self._asking_rules is not None

    @property
    def asks(self) -> bool:
        """Whether a question of the planner would be answered; see `EpisodeContext`."""
        rules, used = self._asking_rules, self._n_questions
        if rules is None or used >= MOST_QUESTIONS or not self.remarks_left:
            return False
        return rules.person or rules.safest or used < len(rules.answers)

    def note_language(self, name: str) -> None:
        """Note the language of the person; see `EpisodeContext`."""
        self._language = name

    def ask_person(
        self, question: str, options: Sequence[str] = ()
    ) -> tuple[FeedbackReceived, ...]:
        """Ask the person, and return the answer; see `EpisodeContext`."""
        rules, number = self._asking_rules, self._n_questions
        if rules is None:
            raise GaveUpError(f'Nobody answers questions in this episode: {question}')
        asked = QuestionAsked(question, tuple(options), rules.timeout_s)
        self._n_questions += 1
        with self._lock:  # who reads the event may answer at once
            self._question = asked
            self.emit(asked)
        answer, refused = next(iter(rules.answers[number : number + 1]), None), ''
        if answer is not None and not asked.fits(answer):
            lines = ' / '.join(asked.lines)
            refused = f'The answer {answer!r} is none of the options of the question: {lines}.'
            self.warn(refused)
            answer = None
        if answer is None and rules.person and rules.reply is not None:
            answer = rules.reply(asked)
        if answer is not None:
            self.add_feedback(answer)
        deadline_s = time.monotonic() + (rules.timeout_s if rules.person else 0.0)
        try:
            while not self.spoken:
                if time.monotonic() < deadline_s:
                    self.token.wait(POLL_S)
                elif rules.safest:
                    self.add_feedback(SAFEST, 'bbllm')
                else:
                    lines = ' / '.join(asked.lines)
                    nobody = f'Nobody answered within {rules.timeout_s:g} s: {lines}'
                    raise GaveUpError(nobody if rules.person else refused or nobody)
        finally:
            with self._lock:
                self._question = None
        return self.take_human_feedback()

    @property
    def remarks_left(self) -> int:
        """How many more remarks may change the plan."""
        return max(0, self._limits.remarks - len(self._remarks))

    @property
    def calls_left(self) -> int | None:
        """How many more requests to models there may be; None without a limit."""
        most = self._limits.model_calls
        with self._lock:
            return None if most is None else most - len(self._all(ModelCall)) - self._asking

    @contextmanager
    def taking_remarks(self) -> Iterator[None]:
        """Let a remark cut requests to models short meanwhile; see `EpisodeContext`."""
        self._takes_remarks = True
        try:
            yield
        finally:
            self._takes_remarks = False

    def interruption(self) -> Callable[[], None]:
        """Return a check that raises SpokenError once a request of this thread is outdated."""
        known: int | None = getattr(self._reader, 'known', None)

        def check() -> None:
            read_with = self._n_taken if known is None and self._takes_remarks else known
            if read_with is not None and len(self._remarks) > read_with:
                raise SpokenError('A remark was added to the task since this was asked.')

        return check

    @property
    def _known(self) -> int:
        """How many remarks the request of this thread is made with."""
        return getattr(self._reader, 'known', self._n_taken)

    def _task_with(self, n_remarks: int) -> Task:
        sentences = (remark.sentence for remark in self._remarks[:n_remarks])
        return replace(self.task, added=tuple(filter(None, sentences)))

    def _take_late(self) -> None:
        """Let remarks that came after the end of the plan count for the goal."""
        late = self._remarks[self._n_taken :]
        if late and self._goals is not None:
            self.take_human_feedback()
            for remark in late:
                self.warn(
                    f'The plan had ended before this was read, so that only the goal follows it: '
                    f'{remark.text!r}'
                )
            self._settle(TOO_LATE, self._n_taken - len(late))

    # --- what the guards use ----------------------------------------------------------------

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Mark that a call is under way, before it is checked whether it may be."""
        self._idle.clear()
        try:
            yield
        finally:
            self._idle.set()

    @property
    def plans(self) -> int:
        """How many plans there were; one that grows stays the same."""
        return sum(type(event.data) is PlanMade for event in self.events)

    def proposal(self, call: SkillCall) -> Proposal:
        """Return what a person is asked for with a call: it, and the rest of the plan."""
        plans, begun = self._all(PlanMade), self._all(StepBegun)
        steps = plans[-1].steps[begun[-1].index :] if plans and begun else ()
        words = f'the plan "{cut("; ".join(steps), PLAN_CHARACTERS)}"'
        return Proposal(call, len(plans), steps, words)

    def spend_call(self) -> None:
        """
        Take one call from the budget; raises BudgetError or CancelledError.

        The reading of a goal that is still due begins; where a person approves what moves, it
        ends before, so that they can read it.
        """
        if self._is_due and self.before is not None and self._world is not None:
            self._is_due = False
            self._begin_goal(self.before, self._world)
        self.token.raise_if_cancelled()
        _within('calls', len(self._all(SkillCall)), self._limits.steps)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """
        Mark that a model call is under way, and take it from the budget.

        Raises:
            BbllmError: The budget is used up, also by calls under way; the run was cancelled.
        """
        self.token.raise_if_cancelled()
        with self._lock:
            calls = self._all(ModelCall)
            _within('model calls', len(calls) + self._asking, self._limits.model_calls)
            # Where no server counts, the estimate does, so that a limit of tokens holds there too.
            tokens = sum(call.size_tokens + call.completion_tokens for call in calls)
            _within('tokens', tokens, self._limits.tokens)
            self._asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1

    def _check(self) -> None:
        """Raise what a sink raised, or BudgetError where the wall time is used up."""
        if self._broken is not None:
            raise self._broken
        limit_s = self._limits.wall_s
        if limit_s is not None and time.monotonic() - self._started_s > limit_s:
            raise BudgetError(f'The episode took longer than its {limit_s:g} s.')

    def _all(self, kind: type[Kept]) -> list[Kept]:
        return [event.data for event in self.events if isinstance(event.data, kind)]

    def _keep_stopping(self) -> None:
        # A stop that comes between the last check and the first motion of a call stops nothing.
        pause_s = STOP_AGAIN_S
        while not self._idle.wait(pause_s) and self._world is not None:
            self._world.stop()
            pause_s = min(2 * pause_s, STOP_SELDOM_S)

    # --- how it ends ------------------------------------------------------------------------

    def _judge(self, scene: Scene) -> tuple[Ending, str]:
        failed = list(steps_left(self.events, StepFailed).values())
        if failed:
            more = f' ({len(failed)} steps in all)' if len(failed) > 1 else ''
            text = f'Step {failed[0].index} stayed failed{more}: {failed[0].cause}'
            return Ending.GAVE_UP, text
        passed = _passed_text(list(steps_left(self.events, StepPassed).values()))
        plans = self._all(PlanMade)
        rest = f'Left undone: {plans[-1].rest}' if plans and plans[-1].rest else ''
        open_ends = self._open_ends(scene)
        answers = [answer.text for answer in self._all(AnswerGiven)]
        if answers and not (self._all(Outcome) or (plans and plans[-1].steps) or rest):
            return Ending.ANSWERED, ' '.join(answers)
        if self._reported_done:
            passed = ''
        elif not (self._has_succeeded or self._needs_nothing(plans, open_ends)):
            message = 'The plan ended without one step that the robot carried out.'
            return Ending.GAVE_UP, ' '.join(filter(None, (message, passed, rest, *open_ends)))
        message = ' '.join(filter(None, (passed, rest, *open_ends)))
        left_out = self._goal.left_out_words if self._goal else ''
        left_out = left_out and f'{left_out[0].upper()}{left_out[1:]}.'
        if message:
            return Ending.PARTLY_DONE, f'{message} {left_out}'.rstrip()
        message = self._as_far_as_checked(scene) if self._all(Outcome) else self._nothing_to_do()
        return Ending.FINISHED, f'{message} {left_out}'.strip()

    def _as_far_as_checked(self, scene: Scene) -> str:
        """Return how much of the goal is checked and met, where that is a part."""
        finding = self._finding(scene)
        if finding is None or self._goal is None or finding.status != AS_FAR:
            return ''
        rests = self._goal.rest.split(' / ') if self._goal.rest else []
        why = f'Not checked: {self._goal.rest}' if rests else finding.unseen
        n_all = len(self._goal.conditions) + len(rests)
        return f'Checked and met: {finding.n_met} of {n_all} parts of the goal. {why}.'

    @property
    def _has_succeeded(self) -> bool:
        return any(outcome.succeeded for outcome in self._all(Outcome))

    def _needs_nothing(self, plans: Sequence[PlanMade], open_ends: Sequence[str]) -> bool:
        """Return whether a person's task has a plan without steps, and none is needed."""
        if self._goals is None or not plans or self._all(Outcome):
            return False
        return not (plans[-1].steps or plans[-1].rest or open_ends)

    def _nothing_to_do(self) -> str:
        """Return why an episode in which nothing was tried is finished, '' in a bench."""
        if self._goals is None:
            return ''
        if self._goal is None or not self._goal.conditions:
            return (
                "Nothing was done: the planner finds nothing to do. The planner's reply alone "
                'stands for this, as the goal was not checked.'
            )
        holds = '; '.join(condition.in_words for condition in self._goal.conditions)
        rest = f' {NOT_CHECKED.capitalize()}: {self._goal.rest}.' if self._goal.rest else ''
        return f'Nothing to do: {holds} already.{rest}'

    def _begin_goal(self, scene: Scene, world: World) -> None:
        """Have the goal read from the scene before the task, at once or beside the planner."""
        goals = self._goals
        overlaps = self.stream and isinstance(goals, OverlappingGoals) and goals.overlaps
        if not overlaps or waits_for_person(world):
            self._state_goal(scene)
            return
        reading = self._reading = Future[None]()

        def read() -> None:
            try:
                self._state_goal(scene)
            except BaseException as error:  # raised again where the goal is needed
                reading.set_exception(error)
            else:
                reading.set_result(None)

        threading.Thread(target=read, name='goal', daemon=True).start()

    def _renew_goal(self) -> None:
        """Have the goal read anew where something was added to the task; see `_begin_goal`."""
        if self._goals is None or self.before is None or self._world is None:
            return
        if self._is_due:
            return
        self._await_goal()
        new = self._remarks[self._n_in_goal : self._n_taken]
        if any(remark.sentence for remark in new):
            self._begin_goal(self.before, self._world)

    def _await_goal(self) -> None:
        """Wait until the goal is read; raises what the reading raised."""
        if self._is_due and self.before is not None:
            self._is_due = False
            self._state_goal(self.before)
        if self._reading is not None:
            self._reading.result()

    def _state_goal(self, scene: Scene) -> None:
        """
        Have the goal read and put it on record, or why it is not checked.

        It is read from the task and all that was added to it so far; what is added meanwhile
        begins it anew.
        """
        if self._goals is None:
            return
        old, stated = self._goal, GoalStated()
        while True:
            known = self._reader.known = len(self._remarks)
            self._goal = None
            try:
                goal = self._goals.read(self._task_with(known), scene, self)
            except SpokenError:
                continue
            except NoGoalError as error:
                why = f'the earlier goal was withdrawn, and {error}' if old else str(error)
                stated = GoalStated(by=self._goals.by, why=why)
            else:
                self._goal = goal
                stated = GoalStated(goal.in_words, str(goal), self._goals.by)
            finally:
                del self._reader.known
            self._n_in_goal = known
            break
        self.emit(stated)
        if self._goal and not known and self._goals.check(self._goal, scene, scene, ()).met:
            self.warn('The goal is already met, before anything has moved.')

    def _settled(self) -> Scene:
        """Return the scene as it is; where a goal is checked, once nothing moves."""
        assert self._world is not None  # planners run in `execute` only
        if self._goal is not None and (settle := features_of(self._world).settle):
            settle()
        return self._world.observe()

    def _open_ends(
        self, scene: Scene, *, mendable: bool = False, predicted: bool = False
    ) -> list[str]:
        """
        Return what speaks against the end of the task in a scene, one sentence each.

        *mendable* is whether the planner may still withdraw what it has read into the task, and
        *predicted* whether the scene is one that has not been seen.
        """
        found = [fault for name in held_names(scene) if (fault := self._held_fault(name, scene))]
        finding = self._finding(scene, predicted=predicted)
        if finding and finding.unmet:
            found.append(f'The goal is not met: {"; ".join(finding.unmet)}.')
            if mendable and self._goals and self._goals.by != GIVEN:
                line = f'`goal: withdraw {finding.broken[0]}: <reason>`'
                found.append(f'If the task does not ask for that, add a line {line}.')
        return found

    def _finding(self, scene: Scene, *, predicted: bool = False) -> GoalFinding | None:
        """Return what a scene shows of the goal; None where there is none."""
        if self._goal is None or self._goals is None or self.before is None:
            return None
        seen = [observed(self.before), *self._all(Observed), observed(scene)]
        return self._goals.check(self._goal, scene, self.before, None if predicted else seen)

    def _held_fault(self, name: str, scene: Scene) -> str:
        """
        Return why an object should not be in the hand at the end, '' if it may.

        On a table the goal decides, where there is one. In a household, where hands often keep
        what was of use, and without a goal the plan does: something after it was taken went wrong,
        and the planner does not report that the task is done all the same.
        """
        if self._goal is not None and not self._goal.rest and not scene.is_symbolic:
            asked_for = name in self._goal.to_hold or name in held_names(self.before)
            fault = f'{name} is still in the hand, and the task does not ask to hold it.'
            return '' if asked_for else fault
        if self._reported_done:
            return ''
        tried: dict[str, bool] = {}
        since: list[Event] = []
        for event in self.events:
            match event.data:
                case Outcome(call=call) as outcome if outcome.succeeded and name in call.args:
                    tried, since = {}, []  # it was taken by this call, or later
                case Outcome(call=call) as outcome:
                    tried[call.skill] = outcome.succeeded
                case _:
                    since.append(event)
        if all(tried.values()) and not steps_left(since, StepPassed):
            return ''
        return f'{name} is still in the hand: a step after it was taken was not carried out.'

    def _goal_status(self, after: Scene | None) -> str:
        """Return what the scene at the end shows of the goal; '' where none was asked for."""
        if self._goals is None:
            return ''
        finding = self._finding(after) if after else None
        return finding.status if finding else NOT_CHECKED

    def _is_stuck(self, world: World) -> bool:
        """
        Return whether a step of a person's task stayed failed and left an object in the hand.

        A bench asks for no goal, and scores what the planner itself left after its last loop; only
        where a planner gives up is what it took set down there too.
        """
        if self._goals is None or not steps_left(self.events, StepFailed):
            return False
        scene = world.observe()
        return any(self._held_fault(name, scene) for name in held_names(scene))

    def _set_down(self, world: 'GuardedWorld') -> str:
        """
        Set down, at a free place, what is in the hand at a planner's end; return what failed.

        Only what was taken in this episode, and where the hand can place it on furniture.
        """
        held = 'Whatever was taken'
        try:
            scene = world.observe()
            taken = [name for name in held_names(scene) if name not in held_names(self.before)]
            tables = [item.name for item in scene.objects if item.kind is Kind.FIXTURE]
            places = [skill for skill in scene.skills if (skill.name, skill.params) == PLACE]
            if not (taken and tables and places):
                return ''
            held = taken[0]
            plans, begun = self._all(PlanMade), self._all(StepBegun)
            done = plans[-1].steps[: begun[-1].index + 1] if plans and begun else ()
            step = PlanStep(len(done), f'place {taken[0]} on {tables[0]}')
            self.emit(PlanMade((*done, step.text), len(done)))
            self.emit(StepBegun.of(step))
            outcome = world.execute(SkillCall(places[0].name, (tables[0],)))
        except (LostNodeError, NeedsPersonError):
            raise
        # The reason why the episode ends is another.
        except (BudgetError, WentInCirclesError, WorldError) as error:
            return f' {held} is still in the hand: {error}'
        return '' if outcome.succeeded else f' {held} is still in the hand: {outcome.message}'

    def _show_scene(self, moment: str, scene: Scene) -> Scene:
        self.emit(SceneRecorded(moment, scene))
        return scene


def _usable(scene: Scene) -> Scene:
    """Return a scene; raise SceneError if it has text that no prompt may contain."""
    if fault := scene_fault(scene):
        raise SceneError(f'The scene cannot be used: {fault}. Correct it at its source.')
    return scene


def _passed_text(passed: Sequence[StepPassed]) -> str:
    """Return a sentence that names the passed steps; empty where there are none."""
    if not passed:
        return ''
    named = [f'{s.index}: {cut(s.text, STEP_CHARACTERS)!r}' for s in passed[:NAMED_STEPS]]
    if len(passed) > NAMED_STEPS:
        named.append(f'and {len(passed) - NAMED_STEPS} more')
    were, it = ('was', 'it') if len(passed) == 1 else ('were', 'them')
    return (
        f'{count_of(len(passed), "step")} of the plan {were} passed, because no action was found '
        f'for {it}: {", ".join(named)}.'
    )


Answer = TypeVar('Answer', bound=Reply | Embeddings)


class Account(Protocol):
    """What model calls are charged to: an episode, or one request of another program."""

    @property
    def token(self) -> CancelToken:
        """Ends calls that wait."""
        ...

    @property
    def stream(self) -> bool:
        """Whether replies may be read while they are written."""
        ...

    def asking(self) -> AbstractContextManager[None]:
        """Take one call from the budget while it is under way; raises if none is left."""
        ...

    def add_model_call(self, call: ModelCall, text: str | None = None) -> None:
        """Record a call that has ended, with the text of its reply; also one that failed."""
        ...


class GuardedWorld(WorldWrapper):
    """The world as a planner sees it: every call is counted and on record."""

    def __init__(self, run: EpisodeRun, inner: World):
        super().__init__(inner)
        self._run = run
        self._unseen = False
        self._seen: Scene | None = None
        """The scene in which the next call is made, where it was observed."""

    @property
    def features(self) -> WorldFeatures:
        """Those of the world; they end with the episode, and calls are foreseen in a stream."""
        inner = super().features
        return replace(
            inner,
            picture=inner.picture and self._picture,
            rehearse=inner.rehearse and self._rehearse,
            expect=inner.expect if self._run.stream else None,
        )

    def observe(self) -> Scene:
        self._run.token.raise_if_cancelled()
        scene = self._seen = _usable(self.inner.observe())
        if self._unseen:
            self._unseen = False
            self._run.emit(observed(scene))
        return scene

    def execute(self, call: SkillCall) -> Outcome:
        with self._run.calling():
            self._run.spend_call()
            proposal = self._run.proposal(call)
            denied_before = self._run.denials.before(proposal)
            scene, refusal = (None, denied_before) if denied_before else self._guard(call)
            self._run.emit(call)
            self._run.token.raise_if_cancelled()
            self._unseen = True
            outcome = refusal or self.inner.execute(call)
            self._run.denials.after(outcome)
            if outcome.status is not Status.REJECTED:  # something may have moved
                self._seen = None
            denial = denied(outcome)
            # Of a call that was not approved nothing is known.
            if not (denied_before or denial or withdrawn(outcome)):
                outcome = self._run.circles.after(outcome, scene, self._run.plans)
        self._run.emit(outcome)
        if denial is not None:
            kind, reason = denial
            self._run.denials.add(kind, reason, proposal)
            what = proposal.words if kind is RequestKind.PLAN else str(call)
            self._run.take_denial(Denial(reason, what=what))
        self._run.token.raise_if_cancelled()
        if outcome.code is Code.LOST_NODE:
            raise LostNodeError(outcome.message)
        if outcome.code is Code.NEEDS_PERSON:
            raise NeedsPersonError(outcome.message)
        return outcome

    def _guard(self, call: SkillCall) -> tuple[Scene | None, Outcome | None]:
        """Return the scene of a call, and its refusal where it only goes in circles."""
        scene, guard = self._seen, self._run.circles
        if scene is None and guard.knows(call):
            with suppress(WorldError):  # the call meets it again
                scene = self.inner.observe()
        return scene, guard.before(call, scene, self._run.plans)

    def _picture(self) -> ScenePicture:
        self._run.token.raise_if_cancelled()
        return picture_of(self.inner)

    def _rehearse(self, cancel: CancelToken | None) -> Rehearsal:
        token, rehearse = self._run.token, super().features.rehearse
        assert rehearse is not None  # `features` has it then only
        return rehearse(token.with_checks(cancel.raise_if_cancelled) if cancel else token)


class GuardedModel(ModelWrapper):
    """A model as a planner sees it: every call is counted and on record."""

    def __init__(
        self,
        account: Account,
        inner: ChatModel,
        role: str,
        warn: Callable[[str], None] | None = None,
        check: Callable[[], object] | None = None,
        interruption: Callable[[], Callable[[], None]] | None = None,
    ):
        super().__init__(inner)
        self._account = account
        self._interruption = interruption
        self._token = account.token.with_checks(check) if check else account.token
        self._role = role
        self._warn = warn
        self._sent = SentPrompts()
        self._lock = threading.Lock()

    @property
    def streams(self) -> bool:
        return self._account.stream and super().streams

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer a conversation on the account; see `ChatModel.ask`."""
        cancel, pass_on = request.cancel, on_text
        token = self._token.with_checks(cancel.raise_if_cancelled) if cancel else self._token
        if self._interruption is not None:
            token = token.with_checks(self._interruption())

        def answer() -> Reply:
            show = pass_on and (lambda text: pass_on(_visible(text)))
            reply = self.inner.ask(replace(request, cancel=token), show)
            return _visible_reply(reply)

        with self._account.asking():
            with self._lock:
                call = self._sent.add(request.texts, self._call(request))
            reply = _charged(self._account, answer, call)
        self._warn_if_cut(request.texts, reply)
        token.raise_if_cancelled()
        return reply

    def _call(self, request: ModelRequest) -> ModelCall:
        prompt, schema = [], request.schema
        for message in request.messages:
            prompt.append(PromptText.of(message.role, message.text))
            prompt += map(PromptText.of_picture, message.images)
        if schema is not None and self.supports_schema:
            prompt.append(PromptText.of('schema', json.dumps(schema, ensure_ascii=False)))
        if request.tools:
            prompt.append(PromptText.of('schema', request.declared_tools))
        return ModelCall(role=self._role, model=self.name, prompt=tuple(prompt))

    def _warn_if_cut(self, texts: Sequence[str], reply: Reply) -> None:
        """Warn once where a server has left out a part of what it was sent."""
        evidence = cut_of(texts, reply.usage)
        if not evidence or self._warn is None:
            return
        self._warn(
            f'{self.name} {evidence}: its server seems to have cut it, and to answer the rest. '
            'Give the server a longer context (Ollama: OLLAMA_CONTEXT_LENGTH), and write how many '
            f'tokens it has into `context_tokens`, section `{self._role}` of config/llm.yaml, so '
            'that prompts are kept shorter than that.'
        )
        self._warn = None


class GuardedEmbedder:
    """An embedder as a Body sees it: every request is counted and on record."""

    def __init__(self, account: Account, inner: Embedder, role: str):
        self._account = account
        self._inner = inner
        self._role = role
        self.name = inner.name

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        token = self._account.token
        token = token.with_checks(cancel.raise_if_cancelled) if cancel else token
        call = ModelCall(role=self._role, model=self.name)
        with self._account.asking():
            return _charged(self._account, lambda: self._inner.embed(texts, cancel=token), call)


def _visible(text: str) -> str:
    """Return the text of a model in visible characters, full-width ones in ASCII."""
    return half_width(strip_hidden(text))


def _visible_reply(reply: Reply) -> Reply:
    """Return a reply in visible characters, also where JSON escapes others."""
    calls = tuple(
        replace(call, name=_visible(call.name), arguments=_visible_json(call.arguments))
        for call in reply.calls
    )
    return replace(reply, text=_visible(reply.text), calls=calls)


def _visible_json(text: str) -> str:
    try:
        data = json.loads(text)
        return json.dumps(_visible_in(data), ensure_ascii=False)
    except (ValueError, RecursionError):
        return _visible(text)


def _visible_in(data: Any) -> Any:
    match data:
        case str():
            return _visible(data)
        case list():
            return [_visible_in(each) for each in data]
        case dict():
            return {_visible(key): _visible_in(each) for key, each in data.items()}
    return data


def _charged(account: Account, ask: Callable[[], Answer], call: ModelCall) -> Answer:
    """Return what *ask* returns, with its cost added to the account."""
    begun_s = time.monotonic()
    try:
        answer = ask()
    except BaseException as error:
        # Also a call that Ctrl-C or a cancel cut off was made, and may be on the bill.
        why = ': '.join(filter(None, (type(error).__name__, str(error))))
        account.add_model_call(replace(call, duration_s=time.monotonic() - begun_s, error=why))
        raise
    account.add_model_call(
        replace(
            call,
            model=answer.model,
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            cached_tokens=answer.usage.cached_tokens,
            reasoning_tokens=answer.usage.reasoning_tokens,
            image_tokens=answer.usage.image_tokens,
            duration_s=answer.duration_s,
            retries=answer.retries,
        ),
        answer.in_words if isinstance(answer, Reply) else None,
    )
    return answer
