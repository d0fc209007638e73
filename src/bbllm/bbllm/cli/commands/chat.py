"""`bbllm chat`: a conversation with the robot in a terminal."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Literal, TextIO

from bbllm.api.chat import Chat, Reply
from bbllm.api.config import HOUSE, EpisodeConfig, check_world
from bbllm.api.local_session import LocalSession
from bbllm.api.session import Session
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.cli.support.options import RehearsalOptions, StackOptions
from bbllm.cli.support.requests import flag, option, spelled
from bbllm.cli.support.session import found_session
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.question import person, show
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.dialogue import AskMode
from bbllm.core.errors import BbllmError, ConfigError, LostNodeError
from bbllm.core.events import (
    AnswerGiven,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    GoalStated,
    PlanMade,
    QuestionAsked,
    RepairBegun,
    WarningRaised,
    describe,
)
from bbllm.core.plugins import load_part
from bbllm.core.progress import Progress
from bbllm.core.stop_words import is_stop
from bbllm.core.text import escape_line
from bbllm.core.types import Outcome

POLL_S = 0.05
"""How often the conversation looks for a line, an end or a question, wall clock [s]."""
REMARK_S = 0.5
"""How long the fate of an addition is waited for before the next line is read [s]."""
SHOWN = (PlanMade, RepairBegun, GoalStated, Outcome, WarningRaised)
"""Events that are lines of the conversation."""
HELP = (
    'Write what to do, ask, or correct. `stop` stops the arm. /turns lists the turns so far, '
    '/help shows this, /quit ends.'
)
UNANSWERED = (
    'The lines ended before an answer, so that the task ends too. What works: the answer as '
    'the next line, --ask no, or --ask safest.'
)


class ChatConfig(EpisodeConfig, RehearsalOptions):
    """All that can be chosen for the episodes of the conversation."""


def chat(
    *,
    world: Literal['auto', 'ros', 'tabletop', 'household'] = option(  # a name
        'ros: the running stack. tabletop, household: simulate here, without ROS. auto: the '
        'stack where one runs, else the table.',
        default='auto',
    ),
    config: ChatConfig,
    voice: str | None = option(
        'Take spoken lines too: `microphone`, a WAV file, or a folder of them (docs/voice.md).',
        metavar='SOURCE',
    ),
    speak: str | None = option(
        'Speak replies: `auto` by espeak-ng, or a command that speaks its standard input.',
        metavar='COMMAND',
    ),
    verbose: bool = flag('Print all events of each turn, as `bbllm run` does.', '-v'),
    stack: StackOptions,
    json: bool = flag('Print one JSON object for each turn on stdout; all else goes to stderr.'),
) -> None:
    r"""
    Talk with the robot: tasks, questions, corrections, answers.

    The Brain decides what a line is. It has the turns before it, so that "put
    it back" and "no, the other one" mean something. It may ask, and answer
    questions without moving anything. A line during a motion is added to the
    task; `stop` stops the arm at once, without a model.

    Lines may come from a pipe: each waits for the end of the turn before it,
    or for a question. With --json, stdout has one object for each turn.

    With --voice, what was understood is shown, and counts after Enter; "stop"
    stops the arm unconfirmed. Approvals are typed.

    Exit code: 0; 2 for input that cannot be used; 130 after Ctrl-C.

    Examples:
      bbllm chat
      bbllm chat --voice microphone --speak auto
      bbllm chat --world tabletop --scene tower
      printf 'which cubes are there?\nput the red one on A\n' | bbllm chat
    """
    output = Output(json)
    speaker = load_part('bbllm.voice', 'speaker')(speak) if speak else None
    with ExitStack() as opened:
        session = opened.enter_context(_session(world, config, stack, output))
        talk = Talk(
            session,
            output,
            verbose=verbose,
            speak=speaker and speaker.speak,
            patient=config.ask is AskMode.SAFEST,
        )
        take: Callable[[], str | None]
        take = typed = TypedLines(sys.stdin, talk.stops)
        talk.stop_waits = typed.stop_waits.is_set
        if voice:
            open_voice = load_part('bbllm.voice', 'lines')
            take = opened.enter_context(
                open_voice(voice, session, take, talk.notice, speaker, types=talk.types)
            )
        with interrupts() as counter:
            talk.run(take, lambda: counter.count > 0)
        if counter.count:
            raise SystemExit(INTERRUPTED)


@contextmanager
def _session(
    world: str, config: ChatConfig, stack: StackOptions, output: Output
) -> Iterator[Session]:
    """Find the stack, or build a world in this process."""
    in_house = bool(config.house) or world == 'household'
    if config.robot and (in_house or world != 'auto'):
        raise ConfigError('--robot moves a robot: leave --world and --house out.')
    if world in ('auto', 'ros') and not in_house and not config.robot:
        chosen = {} if world == 'auto' else config.given
        check_world('ros', chosen, ChatConfig, spelled(ChatConfig))
        try:
            with found_session('bbllm chat', stack, output, config.of_task) as session:
                yield session
                return
        except LostNodeError:
            if world == 'ros':
                raise
            output.print('No stack runs; the table is simulated here.', style='dim')
    house = (config.house or HOUSE) if in_house else ''
    own = (
        config.on_arm(config.robot)
        if config.robot
        else config.model_copy(update={'house': house, 'rehearse': config.samples()})
    )
    setup = make_setup(own, own.domain)
    for notice in setup.models.notices:
        output.print(notice, style='yellow')
    with ExitStack() as opened:
        with output.doing('Setting the table'):
            stage = opened.enter_context(open_stage(own))
        yield LocalSession(
            stage.world,
            setup,
            asks=bool(own.robot),
            arm=stage.approved,
            never=own.constraints,
            kept_out=own.kept_out,
            record=stage.record,
            snapshot=stage.snapshot,
        )


class TypedLines:
    """
    The lines of a source, read ahead in a thread; called for the next one.

    A line that is a stop word is acted on when it is read, and lines before it that still wait
    are left out.

    Args:
        source: A text file.
        stops: Stops the robot for a stop word; returns whether a line is one.
    """

    def __init__(self, source: TextIO, stops: Callable[[str], bool]):
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.stop_waits = threading.Event()
        """Set from a stop word until it is taken."""

        def read() -> None:
            for line in iter(source.readline, ''):
                if stops(line):
                    with suppress(queue.Empty):
                        while True:
                            self._lines.get_nowait()
                    self.stop_waits.set()
                self._lines.put(line.rstrip('\n') or line)
            self._lines.put(None)

        threading.Thread(target=read, name='lines', daemon=True).start()

    def __call__(self) -> str | None:
        """
        Return a line without its end unless it is empty.

        It is '' where none was typed yet, and None after the last one.
        """
        try:
            line = self._lines.get(timeout=POLL_S)
        except queue.Empty:
            return ''
        if line is None or is_stop(line):
            self.stop_waits.clear()
        return line


class Talk:
    """The conversation as it is shown and read."""

    def __init__(
        self,
        session: Session,
        output: Output,
        *,
        verbose: bool = False,
        speak: Callable[[str], object] | None = None,
        patient: bool = False,
    ):
        self._patient = patient
        self._session, self._output, self._speak = session, output, speak
        self._view = LineView(sys.stderr if output.json else sys.stdout) if verbose else None
        self._chat = Chat(session, self._show)
        self._asked: ApprovalRequest | None = None
        self._shown: ApprovalRequest | None = None
        """The request that was shown last."""
        self._told: QuestionAsked | None = None
        self._answered: QuestionAsked | None = None
        self._progress = Progress()
        self._written: list[str] = []
        """What was added here, and is not on record yet."""
        self.stop_waits: Callable[[], bool] = lambda: False
        """Returns whether the next line is a stop word."""
        self.types = output.live and sys.stdin is not None and sys.stdin.isatty()
        """Whether a person types, who may write at any time."""

    def run(self, take: Callable[[], str | None], interrupted: Callable[[], bool]) -> None:
        """Take lines until they end, `/quit` comes, or it is *interrupted*."""
        print_, ended = self._output.print, False
        print_(HELP, style='dim')
        self._prompt()
        try:
            while not interrupted():
                self._look()
                if ended and not self._chat.is_busy:
                    break
                if ended and not self._patient and self._is_unanswered:
                    self.notice(UNANSWERED)
                    break
                if ended or not (self.types or self._is_open):
                    time.sleep(POLL_S)
                    continue
                line = take()
                if line is None:
                    ended = True
                elif text := line.strip():
                    if text == '/quit':
                        break
                    self._take(text)
        finally:
            self._chat.close()

    def notice(self, text: str) -> None:
        """Print a line that is no part of the conversation; from any thread."""
        self._output.print(escape_line(text), style='cyan')

    def stops(self, line: str) -> bool:
        """Stop for a stop word, from any thread; return whether a line is one."""
        with suppress(BbllmError):  # the line is taken after that, which names the fault
            return self._session.stopped_by(line)
        return True

    @property
    def _is_unanswered(self) -> bool:
        """Whether a question waits that no line was for."""
        question = self._chat.question
        return question is not None and question is not self._answered

    @property
    def _is_open(self) -> bool:
        """Whether the next line of a pipe has its turn."""
        waits = self._chat.question or self._waiting or self.stop_waits()
        return not self._chat.is_busy or bool(waits)

    @property
    def _waiting(self) -> ApprovalRequest | None:
        return self._session.approvals.waiting

    def _take(self, text: str) -> None:
        try:
            if text in ('/turns', '/history'):
                for turn in self._session.turns:
                    self._output.print_item(turn.line)
            elif text.startswith('/'):
                self._output.print(HELP, style='dim')
            elif self._asked is not None and text.lower() in ('y', 'yes', 'n', 'no'):
                granted = text.lower() in ('y', 'yes')
                self._session.approvals.answer(
                    self._asked.hash, Answer(granted=granted, by=person())
                )
            else:
                question = self._answered = self._chat.question
                self._written.append(question.option_of(text) if question else text)
                self._report(self._chat.begin(text, wait_s=REMARK_S))
                return
        except BbllmError as error:
            self._output.print(f'! {error}', style='yellow')
        self._prompt()

    def _look(self) -> None:
        """Show what has begun to wait for the person."""
        request = self._waiting
        if request != self._asked:
            self._asked = request
            if request is not None:
                doubt, done = self._session.approvals.doubt, self._progress.done_steps
                show(request, self._output, doubt, self._shown, done)
                self._shown = request
                self._output.print('Allow it? y or n, or write what to change.', style='bold cyan')
        question = self._chat.question
        if question is not self._told:
            self._told = question
            if question is not None:
                for line in question.lines:
                    self._output.print(f'? {escape_line(line)}', style='bold cyan')
                if self._speak is not None:
                    self._speak(' '.join(question.lines))

    def _report(self, reply: Reply | None) -> None:
        if reply is not None and reply.text:
            self._output.print(f'  {escape_line(reply.text)}', style='dim')

    def _show(self, event: Event) -> None:
        """Show an event of the turn; called in the thread of the episode."""
        if isinstance(event.data, EpisodeStarted):
            self._progress = Progress()
            self._written.clear()
        self._progress.take(event)
        if isinstance(event.data, FeedbackReceived) and self._view is None:
            self._show_remark(event.data)
        if self._view is not None:
            self._view(event)
        elif isinstance(event.data, GoalStated) and not event.data.conditions:
            return  # the report at the end has it, where it matters
        elif isinstance(event.data, SHOWN):
            for word, text in describe(event.data):
                self._output.print(f'  {word:<8} {escape_line(text)}', style='dim')
        if isinstance(event.data, AnswerGiven):
            return  # the summary has it
        if isinstance(event.data, EpisodeEnded):
            self._output.print(f'< {escape_line(event.data.summary)}', style='bold')
            if self._speak is not None:
                self._speak(event.data.summary)
            self._output.result({'ending': event.data.ending.name, 'reply': event.data.summary})
            self._prompt()

    def _show_remark(self, remark: FeedbackReceived) -> None:
        """Show what was added or answered elsewhere, with who did."""
        if remark.text in self._written:
            self._written.remove(remark.text)
            return
        who = remark.speaker if remark.by else 'given elsewhere or in advance'
        word = 'answer' if remark.question else 'added'
        self._output.print(f'  {word:<8} {escape_line(remark.text)} ({who})', style='cyan')

    def _prompt(self) -> None:
        if self.types:
            self._output.console.print('> ', end='', style='bold green')
