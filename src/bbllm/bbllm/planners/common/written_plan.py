"""A plan whose first steps can be begun while its model still writes the others."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.core.cancel import POLL_S, CancelToken
from bbllm.core.errors import BrokenPlanError, GaveUpError, ParseError, SpokenError
from bbllm.core.events import AnswerGiven, PlanGrown, PlanMade
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    ModelRequest,
    OnText,
    Reply,
    World,
    features_of,
    streams,
    waits_for_person,
)
from bbllm.core.types import Plan, PlanStep
from bbllm.planners.common.plan_grammar import PartialPlan, plan_on

CLOSE_S = 2.0
"""How long a request that was cancelled may take to end [s]."""

Read = Callable[[str], PartialPlan]
Ask = Callable[[ChatModel, Read], PartialPlan]
FirstSteps = Callable[[str], tuple[PlanStep, ...]]


def plan_stream(brain: ChatModel, world: World) -> ChatModel | None:
    """Return the Brain if steps may begin while it writes: plans are not read or tried first."""
    waits = features_of(world).rehearse or waits_for_person(world)
    return brain if streams(brain) and not waits else None


class WrittenPlan:
    """
    A plan as far as it is written; used by one thread, while another one waits for the reply.

    A step that was begun stays. If the whole reply has other steps in its place or cannot be read,
    `has` raises BrokenPlanError in place of the next one. A reply that is refused before any step
    was begun is requested once more, as one that was waited for.

    Args:
        ask: Asks a model for a plan, which it reads with what it is given; it may ask again.
        read: Reads a whole reply.
        first_steps: Returns the steps that a reply so far is sure to begin with.
        context: Where the plan is announced, when it begins and when it grows.
        kept: The steps before, which the new ones follow.
    """

    def __init__(
        self,
        ask: Ask,
        read: Read,
        first_steps: FirstSteps,
        context: EpisodeContext,
        kept: Sequence[PlanStep] = (),
    ):
        self._ask = ask
        self._read = read
        self._first_steps = first_steps
        self._context = context
        self._kept = Plan(tuple(kept))
        self._changed = threading.Condition()
        self._steps: tuple[PlanStep, ...] = ()
        self._rest = ''
        self._n_begun = 0
        self._n_read = 0
        """How long the reply was when it was read last [characters]."""
        self._shown: PlanMade | None = None
        self._thread: threading.Thread | None = None
        self._cancel = CancelToken()
        self._over = False
        self._cut = False
        """Whether a remark has cut the request short; the plan stays as far as it is written."""
        self._error: BaseException | None = None

    def begin(self, brain: ChatModel, stream: ChatModel | None) -> None:
        """
        Ask for the plan; return when its first step is there, without a stream when all are.

        Raises:
            SpokenError: A remark came before the first step.
            BbllmError: There is no plan; what `ask` raises.
        """
        if stream is None:
            try:
                self._ask(brain, self._read_whole)
            finally:
                self._over = True
            return
        watched = _CancellableModel(stream, self._on_text, self._cancel)
        self._thread = threading.Thread(
            target=self._wait_for_reply, args=(watched,), name='plan', daemon=True
        )
        self._thread.start()
        if not self.has(len(self._kept.steps)) and self._cut:
            raise SpokenError('A remark was added to the task before there was a plan.')

    @property
    def plan(self) -> Plan:
        """The steps that are known."""
        return plan_on(self._kept, len(self._kept.steps), self._steps)

    @property
    def rest(self) -> str:
        """What the plan leaves undone; '' for nothing, and while that is not written."""
        return self._rest

    @property
    def is_whole(self) -> bool:
        return self._over

    def has(self, index: int) -> bool:
        """
        Return whether the plan has a step of that number, as soon as that is known; it begins now.

        Raises:
            BrokenPlanError: The reply is not the plan that its first steps belonged to.
            BbllmError: There was no reply.
        """
        place = index - len(self._kept.steps)
        with self._changed:
            while not self._over and place >= len(self._steps):
                self._changed.wait(POLL_S)
            if self._error is not None:
                raise self._error
            self._n_begun = max(self._n_begun, min(place + 1, len(self._steps)))
            return place < len(self._steps)

    def whole(self) -> Plan:
        """
        Return the plan when all of it is written; of a broken one, the steps that were begun.

        Raises:
            BbllmError: There was no reply.
        """
        with self._changed:
            while not self._over:
                self._changed.wait(POLL_S)
            if self._error is not None and not isinstance(self._error, BrokenPlanError):
                raise self._error
        return self.plan

    @property
    def fault(self) -> str:
        """Why the plan is broken; '' while it is not."""
        return str(self._error) if isinstance(self._error, BrokenPlanError) else ''

    def close(self) -> None:
        """End the request, if it is under way."""
        self._cancel.cancel('The plan is no longer needed.')
        if self._thread is not None:
            self._thread.join(CLOSE_S)
            if self._thread.is_alive():
                self._context.warn(
                    f'The Brain did not end its reply within {CLOSE_S:g} s after it was cancelled.'
                )

    # --- the thread that waits for the reply ------------------------------------------------

    def _wait_for_reply(self, brain: ChatModel) -> None:
        try:
            self._ask(brain, self._read_whole)
        except SpokenError:
            self._cut = True
        except BaseException as error:  # raised again in the thread that uses the plan
            self._error = error
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _on_text(self, text: str) -> None:
        """Take in a reply so far."""
        steps = self._first_steps(text)
        with self._changed:
            if len(text) < self._n_read:  # the request was sent again
                self._steps = self._steps[: self._n_begun]
            self._n_read = len(text)
            n_known = len(self._steps)
            if len(steps) > n_known and steps[:n_known] == self._steps:
                self._show(steps)

    def _read_whole(self, text: str) -> PartialPlan:
        """Read a reply that has ended."""
        try:
            found = self._read(text)
        except ParseError as error:
            with self._changed:
                self._steps, self._n_read = self._steps[: self._n_begun], 0
                if not self._n_begun:
                    raise
            raise BrokenPlanError(_broken(str(error.__cause__ or error))) from error
        except GaveUpError:
            self._steps = self._steps[: self._n_begun]
            raise
        with self._changed:
            begun = self._steps[: self._n_begun]
            if found.steps[: self._n_begun] != begun:
                self._steps = begun
                raise BrokenPlanError(_broken('It replaces them by other steps.'))
            self._show(found.steps, found.rest, found.assumed)
        if found.answer:
            self._context.emit(AnswerGiven(found.answer))
        return found

    def _show(self, steps: tuple[PlanStep, ...], rest: str = '', assumed: str = '') -> None:
        """Make steps known and announce them, as far as they are new."""
        self._steps, self._rest = steps, rest
        plan, shown = self.plan, self._shown
        if shown is None:
            made = PlanMade.of(plan, len(self._kept.steps), rest, assumed)
        else:
            n_shown = len(shown.steps)
            same = shown.plan.steps == plan.steps[:n_shown]
            if same and (n_shown, shown.rest, shown.assumed) == (len(plan.steps), rest, assumed):
                return
            kind = PlanGrown if same else PlanMade
            made = kind.of(plan, n_shown if same else len(self._kept.steps), rest, assumed)
        self._shown = made
        self._context.emit(made)
        self._changed.notify_all()


def _broken(why: str) -> str:
    return f'The reply with this plan cannot be used beyond the steps that were begun. {why}'


class _CancellableModel(ModelWrapper):
    """A model whose replies are passed on while they are written, and which can be cancelled."""

    def __init__(self, inner: ChatModel, on_text: OnText, cancel: CancelToken):
        super().__init__(inner)
        self._on_text = on_text
        self._cancel = cancel

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        return self.inner.ask(replace(request, cancel=self._cancel), self._on_text)
