"""Plays one trial of crossed faults in this process, and checks its invariants."""

import gc
import os
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bbllm.api.approved_world import ApprovedWorld
from bbllm.api.config import EpisodeConfig
from bbllm.api.session import run_in_thread
from bbllm.api.setup import EpisodeSetup
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import BbllmError
from bbllm.core.events import (
    Ending,
    Episode,
    Limits,
    ModelReplied,
    SceneRecorded,
)
from bbllm.core.journal import JournalWriter, read_episode
from bbllm.core.protocols import EventSink, PromptRequest, World
from bbllm.core.registry import load_planner, uses_force
from bbllm.core.tasks import make_task
from bbllm.core.text import half_width, strip_hidden
from bbllm.core.types import MOVABLE, Outcome, Scene, SkillCall
from bbllm.llm.models.factory import Models
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.scene.hand_force import STILL_RAD_S
from bbllm.sim.driver import SimDriver
from bbllm.sim.faults import Fault
from bbllm.sim.robot import GoalSeen
from bbllm.testing import ModelServer
from bbllm.worlds.tabletop.tabletop import TabletopWorld, furthest
from bbllm_bench.benchmarks.faults.crossed import CrossedResult, CrossedTrial, Violation, causes
from bbllm_bench.benchmarks.faults.model_faults import (
    FIRST,
    FaultyAnswers,
    ModelFault,
    ServedModel,
)
from bbllm_bench.benchmarks.reply_forms import reply_in_form
from bbllm_bench.benchmarks.time.processes import children_of
from bbllm_bench.oracle.reply_format import PlanLine
from bbllm_bench.oracle.step_mapping import call_text

OBJECT, PLACE = 'red_cube', 'location_B'
TASK = 'put the red cube on location_B'
GOAL = f'on({OBJECT}, {PLACE})'
PICK = PlanLine('pick', (OBJECT,), 'lift the red cube')
PUT = PlanLine('place', (PLACE,), f'set it down on {PLACE}')
LOOPS = 5
LIMITS = Limits(steps=60, model_calls=60)
"""Of an episode: a task takes two calls and two or three requests."""
TRIAL_S = 180.0
"""How long an episode may take, wall clock [s]."""
GRACE_S = 20.0
"""How long one that was cancelled may take to end, wall clock [s]."""
BRAKES_S = 0.2
"""How long an arm that was stopped may take to stand still, simulated time: twice the longest that
was seen [s]."""
THINKS_S = 0.5
"""How long a person is waited for, beside `BRAKES_S`, simulated time [s]."""
REST_S = 1.0
"""How long the table is watched after the end, simulated time [s]."""
LEFT_S = 10.0
"""How long threads of an episode may take to end after it, wall clock [s]."""
STILL_M = 0.001
"""An object that moves less rests [m]."""
STEP_S = 0.02


def is_done(scene: Scene) -> bool:
    return scene.has(OBJECT, 'on', PLACE)


def answer(planner: str, request: PromptRequest) -> str:
    """Return the reply to a planner's request: what is left of `TASK`, in the planner's form."""
    if request.kind == 'call':
        return call_text(request.text, request.scene)
    scene = request.scene
    assert scene is not None  # every planner of this project declares it
    left = [] if is_done(scene) else [PUT] if scene.held == OBJECT else [PICK, PUT]
    return reply_in_form(planner, request, left, scene)


def play(trial: CrossedTrial) -> CrossedResult:
    """Play one trial, and check what it leaves behind."""
    before, children = {*threading.enumerate()}, children_of(os.getpid())
    result = _play(trial)
    left = [f'thread {thread.name}' for thread in _left_threads(before)]
    left += [f'process {pid}' for pid in children_of(os.getpid()) - children]
    found = tuple(Violation(invariant='left', evidence=what) for what in left)
    return replace(result, violations=(*result.violations, *found))


def _play(trial: CrossedTrial) -> CrossedResult:
    answers = FaultyAnswers(trial.model, trial.first_request, trial.lasting)
    with tempfile.TemporaryDirectory() as folder, ModelServer(answers) as server:
        model = ServedModel(_settings(server.url), answers, partial(answer, trial.planner))
        table = WatchedTable(trial)
        try:
            played = _episode(trial, model, table, Path(folder))
            found = tuple(violations(played))
        finally:
            table.close()
    episode = played.episode
    return CrossedResult(
        trial=trial,
        ending=None if episode is None else episode.ending,
        message=played.error if episode is None else episode.message,
        robot_struck=table.struck,
        requests=answers.requests,
        requests_struck=answers.struck,
        goals=table.goals,
        questions=table.questions,
        waited_s=round(table.waited_s, 3),
        wall_s=round(played.wall_s, 3),
        violations=found,
    )


def _settings(url: str) -> OpenAISettings:
    """Return the settings of the client; its limits are such that a busy machine keeps them."""
    return OpenAISettings(
        model=FIRST,
        base_url=url,
        max_tokens=512,
        timeout_s=20.0,
        first_token_timeout_s=10.0,
        hang_timeout_s=15.0,
        retries=1,
        reply_format='text',
    )


class WatchedTable(TabletopWorld):
    """
    A table at which a fault strikes, and a person who answers late.

    Goals, outcomes and what moves while the person is waited for are kept.
    """

    def __init__(self, trial: CrossedTrial):
        self.struck = False
        """Whether the robot's fault was injected."""
        self.goals = 0
        """How many goals of arm and hand arrived."""
        self.outcomes: list[Outcome] = []
        """Of all calls, in their order."""
        self.questions = 0
        self.waited_s = 0.0
        self.stray: list[str] = []
        """What moved, or was to move, while a person was waited for."""
        self._trial = trial
        self._due_s: float | None = None
        self._asked = 'the time before any approval' if trial.approves else ''
        """What is waited for."""
        super().__init__(
            'tabletop',
            seed=trial.seed,
            on_advance=self._strike,
            ask_person=self._resume,
            weighs=uses_force(trial.planner),
        )
        self.robot.on_goal = self._count

    def execute(self, call: SkillCall) -> Outcome:
        outcome = super().execute(call)
        self.outcomes.append(outcome)
        if not outcome.succeeded and self._trial.robot is Fault.ENDLESS_GOAL:
            self.robot.clear(Fault.ENDLESS_GOAL)
        return outcome

    def approve(self, request: ApprovalRequest) -> Answer:
        """Approve a plan or a call, after a while."""
        self._wait(request.name)
        return Answer(granted=True, by='bench of faults', automatic=True)

    def _resume(self, what: str, cancel: CancelToken) -> bool:
        self._wait(what, BRAKES_S)
        if self._trial.person and self._trial.robot is not None:
            self.robot.clear(self._trial.robot)
        return self._trial.person

    def unrest(self) -> Iterator[str]:
        """Watch the table after an episode, with the fault in force; yield what moves."""
        if (speed := self.robot.simulation.fastest_rad_s) > STILL_RAD_S:
            yield f'the arm moved at {speed:.3f} rad/s when the episode ended'
        if isinstance(self.driver, SimDriver) and self.driver.busy:
            yield 'a goal of arm or hand was carried out when the episode had ended'
        goals = self.goals
        for what in self._pass_time(REST_S):
            yield f'{what} after the end'
        if self.goals > goals:
            yield f'{self.goals - goals} goals came after the end'

    def _wait(self, question: str, brakes_s: float = 0.0) -> None:
        """Let time pass while a person is waited for; keep what moves after *brakes_s* [s]."""
        self.questions += 1
        self._asked, begun_s = question, self.time_s
        self.robot.advance(brakes_s)
        self.stray += [f'{what} during: {question}' for what in self._pass_time(THINKS_S)]
        self.waited_s += self.time_s - begun_s
        self._asked = ''

    def _pass_time(self, duration_s: float) -> Iterator[str]:
        """Let time pass [s]; yield what moved."""
        before, end_s, fastest = self._movables(), self.time_s + duration_s, 0.0
        while self.time_s < end_s:
            self.robot.advance(STEP_S)
            fastest = max(fastest, self.robot.simulation.fastest_rad_s)
        if fastest > STILL_RAD_S:
            yield f'the arm moved at {fastest:.3f} rad/s'
        if (moved_m := furthest(before, self._movables())) > STILL_M:
            yield f'an object moved {1000 * moved_m:.1f} mm'

    def _count(self, goal: GoalSeen) -> None:
        self.goals += 1
        if self._asked:
            self.stray.append(f'goal {goal.kind} during: {self._asked}')

    def _strike(self) -> None:
        """Inject the robot's fault once its moment has come."""
        if self.struck or self._trial.robot is None or self.goals < self._trial.after_goals:
            return
        if self._due_s is None:
            self._due_s = self.time_s + self._trial.delay_s
        if self.time_s >= self._due_s:
            self.struck = True
            self.robot.inject(self._trial.robot)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An episode that has ended, or not, and what was seen of it."""

    trial: CrossedTrial
    episode: Episode | None
    error: str
    """Why there is none: what it waited for, or the fault of the program."""
    wall_s: float
    journal: Path
    model: ServedModel
    table: WatchedTable
    unrest: tuple[str, ...]
    """What moved at the end, or after it."""
    after: Scene
    """The settled table, by the simulator's state."""


def _episode(trial: CrossedTrial, model: ServedModel, table: WatchedTable, folder: Path) -> Played:
    spec = load_planner(trial.planner)
    chosen = {'feedback_loops': LOOPS, 'goal': GOAL, 'limits': LIMITS}
    options = EpisodeConfig.of({'planner': trial.planner, **chosen})
    models = Models(model, model)
    setup = EpisodeSetup(
        planner=trial.planner, spec=spec, models=models, options=options, settings={}
    )
    task = make_task(TASK, f'trial-{trial.number}')
    world: World = table
    begun_s = time.monotonic()
    with JournalWriter(folder, task.id) as journal:
        sinks: list[EventSink] = [journal]
        if trial.approves:
            world = guarded = ApprovedWorld(table, table.approve, task, model.name)
            sinks.append(guarded.observe_event)
        run, execute = setup.begin(task, sinks)
        if trial.approves:
            guarded.emit = run.emit
        episode, error = _result(run_in_thread(partial(execute, world)), run)
    wall_s = time.monotonic() - begun_s
    unrest = tuple(table.unrest())
    if trial.robot is not None:
        table.robot.clear(trial.robot)
    table.settled()
    return Played(
        trial=trial,
        episode=episode,
        error=error,
        wall_s=wall_s,
        journal=journal.path,
        model=model,
        table=table,
        unrest=unrest,
        after=table.truth(),
    )


def _result(future: Future[Episode], run: EpisodeRun) -> tuple[Episode | None, str]:
    """Wait for an episode; return it, or None and what it waited for or died of."""
    wait_for([future], TRIAL_S)
    if not future.done():
        where = _waits_in()
        run.cancel('The trial took too long.')
        wait_for([future], GRACE_S)
        return None, f'It had not ended after {TRIAL_S:g} s, and waited in {where}.'
    try:
        return future.result(), ''
    except Exception as error:  # a fault of the program, which is what a trial looks for
        return None, ''.join(traceback.format_exception(error))


def _waits_in() -> str:
    """Return where the thread of the episode is, the innermost function first."""
    frames = sys._current_frames()
    found = [
        f'{frame.name} ({Path(frame.filename).name}:{frame.lineno})'
        for thread in threading.enumerate()
        if thread.name == 'episode' and thread.ident in frames
        for frame in reversed(traceback.extract_stack(frames[thread.ident]))
    ]
    return ' < '.join(found[:8])


def violations(played: Played) -> Iterator[Violation]:
    """Yield each invariant that a trial broke, with what shows it."""
    checks: dict[str, Callable[[Played, Episode], Iterator[str]]] = {
        'done': _not_done,
        'clear': _not_clear,
        'journal': _lost_events,
        'models': _lost_replies,
        'outcomes': _lost_outcomes,
        'held': _lost_objects,
    }
    if played.episode is None or played.episode.ending is None:
        yield Violation(invariant='ends', evidence=played.error or 'the record has no end')
    for what in played.unrest:
        yield Violation(invariant='rest', evidence=what)
    for what in played.table.stray:
        yield Violation(invariant='waits', evidence=what)
    if played.episode is not None:
        for name, check in checks.items():
            for evidence in check(played, played.episode):
                yield Violation(invariant=name, evidence=evidence)


def _not_done(played: Played, episode: Episode) -> Iterator[str]:
    finished = episode.ending is Ending.FINISHED
    if finished and not is_done(played.after):
        yield 'it ended as FINISHED, and the table does not show it'
    if not finished and not (played.table.struck or played.model.struck):
        yield f'nothing was injected, and it ended as {_named(episode)}'


def _not_clear(played: Played, episode: Episode) -> Iterator[str]:
    if episode.ending is Ending.FINISHED:
        return
    trial = played.trial
    struck = replace(
        trial,
        robot=trial.robot if played.table.struck else None,
        model=trial.model if played.model.struck else ModelFault.NONE,
    )
    words = causes(struck, episode.ending)
    if not any(word in episode.message.lower() for word in words):
        listed = ', '.join(words)
        yield f'{_named(episode)} has none of: {listed}'


def _named(episode: Episode) -> str:
    return f'{episode.ending.name if episode.ending else "no end"}: {episode.message!r}'


def _lost_events(played: Played, episode: Episode) -> Iterator[str]:
    try:
        kept = read_episode(played.journal)
    except BbllmError as error:
        yield str(error)
        return
    if kept.events != episode.events:
        n, first = len(episode.events), 0
        while first < min(n, len(kept.events)) and kept.events[first] == episode.events[first]:
            first += 1
        yield f'{len(kept.events)} of {n} events; they differ from event {first} on'


def _lost_replies(played: Played, episode: Episode) -> Iterator[str]:
    model = played.model
    # An embedding has no prompt, and is made in this process.
    calls = [call for call in episode.model_calls if call.prompt_chars]
    if len(calls) != model.asked:
        yield f'{model.asked} replies were asked for, and {len(calls)} calls are on record'
    named = sorted(call.model for call in calls if not call.error)
    if named != sorted(reply.model for reply in model.replied):
        yield f'replies came from {[r.model for r in model.replied]}; on record are {named}'
    texts = [event.data.text for event in episode.events if isinstance(event.data, ModelReplied)]
    seen = [half_width(strip_hidden(reply.text)) for reply in model.replied]
    missing = [text for text in seen if text not in texts]
    if missing or len(texts) != len(model.replied):
        yield f'{len(texts)} of {len(model.replied)} replies are on record; missing: {missing}'


def _lost_outcomes(played: Played, episode: Episode) -> Iterator[str]:
    kept = iter([event.data for event in episode.events if isinstance(event.data, Outcome)])
    for outcome in played.table.outcomes:
        # A refusal of the gate stands between them, and a warning may be added to a message.
        if not any((o.call, o.code) == (outcome.call, outcome.code) for o in kept):
            yield f'{outcome.call} {outcome.code.name} is not on record, or not in its place'


def _lost_objects(played: Played, episode: Episode) -> Iterator[str]:
    scenes = [e.data for e in episode.events if isinstance(e.data, SceneRecorded)]
    last, held = scenes[-1], played.after.held
    if last.moment == 'after' and last.scene.held != held:
        yield f'{held} is in the hand, and {last.scene.held} in the last scene on record'
    for item in played.after.objects:
        rests = item.name == held or played.after.has(item.name, 'on')
        if item.kind in MOVABLE and not rests:
            yield f'{item.name} is neither in the hand nor on anything, at {item.pose.position_m}'


def _left_threads(before: set[threading.Thread]) -> set[threading.Thread]:
    """Return the threads that were started since, and do not end."""
    gc.collect()  # a client of models ends its thread when it goes
    deadline_s = time.monotonic() + LEFT_S
    while (left := {*threading.enumerate()} - before) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    return left
