"""
A language model writes the goal, a classical planner finds the calls.

Sources: Liu et al., LLM+P (arXiv 2304.11477), where a model translates the task to PDDL and a
classical planner solves it; Xie et al., Translating Natural Language to Planning Goals with Large
Language Models (arXiv 2302.05128), where it writes the goal alone, as here. Actions come from the
preconditions and effects of our skills (`grounding.py`). The words of the prompts are our own.
"""

from dataclasses import dataclass, replace
from functools import partial

from bbllm import EpisodeContext, Task, World, errors, events
from bbllm.planning import (
    ModelPlanner,
    PlannerSpec,
    PromptRequest,
    denied,
    failure_cause,
    language_of,
    one_line,
    render,
    task_text,
    text_of,
    withdrawn,
)
from bbllm.tables import check_goal
from bbllm_planners.hands import Hands
from bbllm_planners.pddl.goal import PLANNED, Wanted, parse_reply
from bbllm_planners.pddl.search import Failure, calls_of, find_plan
from bbllm_planners.pddl.solver import NoPlanError

ENDED = 'The plan has ended, and the task is not done.'


@dataclass(frozen=True, slots=True)
class Refused:
    """A goal that has led to no end of the task, and why."""

    wanted: Wanted
    cause: str
    remarked: bool = False
    """Whether a person's word ended it."""


def goal_prompt(task: Task, hands: Hands, refused: Refused | None = None) -> str:
    """Return the prompt for a goal, or for another one."""
    scene, names = hands.scene, hands.names
    language = language_of(scene)
    return render(
        'bbllm_planners.pddl',
        'goal',
        robot=language.robot,
        kinds=[f'{kind.form}: {kind.meaning}' if kind.meaning else kind.form for kind in PLANNED],
        task=task_text(task),
        scene=text_of(language.observation(scene, names)),
        refused=refused is not None,
        goal=str(refused.wanted) if refused else '',
        cause=one_line(names.in_short(refused.cause)) if refused else '',
        tried='\n'.join(str(outcome.call) for outcome in hands.history) or 'none',
    )


@dataclass(frozen=True)
class ClassicalPlanner(ModelPlanner):
    """
    The model writes the goal once; a failed call is planned around without the model.

    Each plan anew uses one of the K feedback loops, also where the model writes another goal:
    where no plan leads to the one it wrote, or its plan has ended and the task is not done.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Plan and act until the goal is met or K is used up; see `Planner`."""
        with context.taking_remarks():
            _Run(self, task, Hands(world, context), context).run()


class _Run:
    """One episode."""

    def __init__(
        self, planner: ClassicalPlanner, task: Task, hands: Hands, context: EpisodeContext
    ):
        self._planner, self._task = planner, task
        self._hands, self._context = hands, context
        self._start = hands.scene
        self._failures: list[Failure] = []
        self._loops = 0

    def run(self) -> None:
        wanted: Wanted | None = None
        refused: Refused | None = None
        while True:
            if self._context.take_human_feedback():
                wanted = None
            if wanted is None:
                try:
                    wanted = self._ask(refused)
                except errors.SpokenError:
                    continue
            ended = self._pursue(wanted)
            if ended is None:
                return
            refused, again = ended
            if not self._may_go_on(refused):
                return
            wanted = wanted if again else None

    def _ask(self, refused: Refused | None) -> Wanted:
        hands, context = self._hands, self._context
        prompt = goal_prompt(context.current(self._task), hands, refused)
        read = partial(parse_reply, scene=hands.scene)
        request = PromptRequest(kind='planning_goal', scene=hands.scene)
        wanted = self._planner.ask(prompt, read, request, context)
        for condition, reason in wanted.withdrawn if refused else ():
            context.withdraw(condition, reason)
        return wanted

    def _pursue(self, wanted: Wanted) -> tuple[Refused, bool] | None:
        """Carry out a plan; return why it has not done the task, and whether the goal stays."""
        hands = self._hands
        try:
            plan = find_plan(wanted, hands.scene, self._start, self._failures)
        except NoPlanError as error:
            return Refused(wanted, f'{error.found}: {error}.'), False
        failed, n_done = hands.run(calls_of(plan))
        if failed is not None:
            self._failures.append(Failure.of(plan[n_done], failed, hands.scene))
            remarked = denied(failed) is not None or withdrawn(failed)
            cause = failure_cause(failed, failed.call)
            return Refused(wanted, cause, remarked=remarked), not remarked
        if n_done < len(plan):  # something was added to the task
            return Refused(wanted, 'Something was added to the task.', remarked=True), False
        return self._unfinished(wanted, idle=not plan)

    def _unfinished(self, wanted: Wanted, *, idle: bool) -> tuple[Refused, bool] | None:
        found = check_goal(wanted.goal, self._hands.scene, self._start)
        if found.unmet:
            return Refused(wanted, f'{ENDED} {found.unmet[0]}.'), not idle
        if open_ends := self._context.unfinished():
            return Refused(wanted, f'{ENDED} {open_ends}'), False
        if idle:
            self._context.report_done()
        return None

    def _may_go_on(self, refused: Refused) -> bool:
        """Report a failure, and return whether a feedback loop is left for it."""
        step = self._hands.plan.at('the end of the plan')
        if refused.remarked or self._loops < self._planner.k:
            self._loops += not refused.remarked
            begun = events.RepairBegun.of(step, refused.cause)
            self._context.emit(replace(begun, remarked=refused.remarked))
            return True
        self._context.emit(events.StepFailed.of(step, refused.cause))
        return False


PDDL = PlannerSpec(factory=ClassicalPlanner, asks_body=False, domains=frozenset({'tabletop'}))
