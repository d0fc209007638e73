"""FT-CoT and FT-Vanilla: a small model, tuned to these prompts, finds out and then acts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bbllm.core.errors import GaveUpError
from bbllm.core.events import PlanMade, RepairBegun, StepBegun
from bbllm.core.observation import observed
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import plain
from bbllm.core.types import Plan, PlanStep, Scene, Task
from bbllm.planners.common.plan_grammar import plan_on
from bbllm.planners.common.prompt_history import ask_shorter, budget_for
from bbllm.planners.llm_pop.fine_tuned_grammar import (
    FtAction,
    FtReply,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm.planners.llm_pop.fine_tuned_prompting import (
    FtHistory,
    FtPrompts,
    FtRound,
    Question,
    said_so,
)
from bbllm.planners.llm_pop.grammar import Verb


class _FTPlanner:
    """
    A host of a fine-tuned model.

    Args:
        brain: The one model.
        body: Not used: actions are calls already.
        k: How many lists of actions may follow the first, also such that only find out.
        history: How long the history in a prompt may be [characters]; None as `past.budget_for`
            says.
    """

    def __init__(self, brain: ChatModel, body: Body, *, k: int = 3, history: int | None = None):
        self._brain = brain
        self._k = k
        self._budget = budget_for(brain, history)

    def _flow(self, task: Task, world: World, context: EpisodeContext) -> _Flow:
        return _Flow(self._brain, self._k, self._budget, task, world, context)


class FTCoT(_FTPlanner):
    """
    The paper's host of a fine-tuned model, with its flow of three questions.

    Is enough known? If not: what finds it out? That is done, and it is asked again. If so: what
    solves the task? That is done, and it ends.

    Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
    Robotics Tasks, section 4.2. What departs from it: where an action fails, or a person speaks
    between two actions, the rest is left and the first question is asked again, as long as there
    are feedback loops.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the actions that solve it are carried out.

        Raises:
            GaveUpError: The feedback loops are used up, or the model says that it cannot be done.
            ParseError: A reply could not be read, also when it was asked for again.
            BbllmError: Whatever world or model raised.
        """
        flow = self._flow(task, world, context)
        while True:
            found = flow.ask(Question.ENOUGH, parse_enough)
            flow.note(found)
            if found.enough:
                reply = flow.ask(Question.SOLVE, parse_reply)
                if flow.carry_out(reply, found.explanation):
                    return
            else:
                # The last list is for the solution; without one, finding out is of no use.
                flow.need_loop(found.explanation, left=1)
                flow.carry_out(flow.ask(Question.GATHER, parse_some), found.explanation)


class FTVanilla(_FTPlanner):
    """
    The paper's baseline: the same host with one question, until no actions are answered.

    Source: as of FTCoT. The paper does not say how it ends; here it does when the model answers
    `<nooutput>`.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the model wants no more actions.

        Raises:
            GaveUpError: As FTCoT.
            ParseError: As FTCoT.
            BbllmError: As FTCoT.
        """
        flow = self._flow(task, world, context)
        while (reply := flow.ask(Question.NEXT, parse_reply)).actions:
            flow.carry_out(reply, reply.explanation)
        context.report_done()


class _Flow:
    """What both have in common: one episode's talk with the model, and what is done for it."""

    def __init__(
        self,
        brain: ChatModel,
        k: int,
        budget: int | None,
        task: Task,
        world: World,
        context: EpisodeContext,
    ):
        self._brain = brain
        self._k = k
        self._task = task
        self._world = world
        self._context = context
        self._prompts = FtPrompts()
        self._history = FtHistory(budget, on_short=context.warn)
        self._plan = Plan()
        self._n_lists = 0
        self._cause = ''
        """Why the latest list of actions broke off; empty where it did not."""

    def ask(self, question: Question, read: Callable[[str], FtReply]) -> FtReply:
        """Ask, with what has happened so far."""
        self._hear(self._context.take_human_feedback())
        scene = self._world.observe()
        return ask_shorter(
            self._brain,
            lambda past: str(self._prompts.ask(question, self._task, scene, past)),
            self._history,
            read,
            request=PromptRequest(kind=question.name.lower(), scene=scene),
            on_retry=self._context.warn,
        )

    def note(self, reply: FtReply) -> None:
        """Put an answer without actions into the history."""
        self._history.add(FtRound(said_so(reply.explanation)))

    def need_loop(self, reason: str, *, left: int = 0) -> None:
        """
        Go on only where there are feedback loops for one more list of actions.

        Args:
            reason: What is missing; not told where an action has failed.
            left: How many have to be left after it.

        Raises:
            GaveUpError: There are not enough.
        """
        if self._n_lists + left > self._k:
            used = f'the {self._k} feedback loops do not do for it' if self._k else 'K is 0'
            raise GaveUpError(f'The task is not solved, and {used}: {self._cause or reason}')

    def carry_out(self, reply: FtReply, reason: str) -> bool:
        """
        Carry out actions until one fails or a person speaks; tell whether all were done.

        Args:
            reply: The actions, and what they are for.
            reason: Why they are needed.
        """
        if not reply.actions:
            self._context.report_done()
            return True
        self.need_loop(reason)
        start = len(self._plan.steps)
        new = [PlanStep(start + i, str(action)) for i, action in enumerate(reply.actions)]
        self._plan = plan_on(self._plan, start, new)
        if self._n_lists:
            self._context.emit(RepairBegun.of(new[0], reason))
        self._context.emit(PlanMade.of(self._plan, start))
        seen, said = self._attempt_all(reply.actions, new)
        words = said_so(reply.explanation, self._cause)
        self._history.add(FtRound(words, reply.actions[: len(seen)], tuple(seen)))
        self._hear(said)
        self._plan = plan_on(self._plan, start + len(seen), ())
        self._n_lists += 1
        return not self._cause and len(seen) == len(new)

    def _attempt_all(
        self, actions: tuple[FtAction, ...], steps: list[PlanStep]
    ) -> tuple[list[tuple[float, ...]], tuple[str, ...]]:
        """Return what was observed after each that was tried, and what people said meanwhile."""
        seen: list[tuple[float, ...]] = []
        for action, step in zip(actions, steps, strict=True):
            # In the last list nothing can be decided anew, so what people say then waits.
            if seen and self._n_lists < self._k:
                said = self._context.take_human_feedback()
                if said:
                    return seen, said
            self._cause = self._attempt(action, step)
            seen.append(observed(self._world.observe()).vector())
            if self._cause:
                break
        return seen, ()

    def _attempt(self, action: FtAction, step: PlanStep) -> str:
        """Carry out one action; return why it failed, '' where it did not."""
        self._context.emit(StepBegun.of(step))
        if problem := _other_held(action, self._world.observe()):
            self._context.warn(f'Nothing was moved at step {step.index}. {problem}')
            return problem
        outcome = self._world.execute(action.call)
        if outcome.succeeded:
            return ''
        return outcome.message or f'{outcome.call} failed: {outcome.code.name}.'

    def _hear(self, said: tuple[str, ...]) -> None:
        for text in said:
            self._history.add(FtRound(said_so(f'A person said: {text}')))


def _other_held(action: FtAction, scene: Scene) -> str:
    """Return why `place` is about another block than the one in the hand; '' where it is not."""
    if action.verb is not Verb.PLACE or not action.name or scene.held is None:
        return ''
    if plain(action.name) == plain(scene.held):
        return ''
    return (
        f'{action.name} cannot be placed, because {scene.held} is in the hand: place that, and '
        f'pick {action.name} after it.'
    )


FT_COT = PlannerSpec(
    factory=FTCoT,
    tells_force=True,
    asks_body=False,
    domains=frozenset({'tabletop'}),
)
FT_VANILLA = replace(FT_COT, factory=FTVanilla)
