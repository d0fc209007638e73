"""
LLM-POP: find out what is missing, then act; an evaluator states what was found out.

Source of the prompts: Sun et al., appendix A.1 and A.2: the same parts in the same order, in other
words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bbllm import (
    ChatModel,
    EpisodeContext,
    Kind,
    PlanStep,
    Scene,
    SceneObject,
    Task,
    World,
    errors,
    events,
)
from bbllm.planning import (
    MOVABLE,
    Body,
    ModelPlanner,
    Observed,
    PlannerSpec,
    PromptRequest,
    lost_names,
    lost_text,
    observed,
    one_line,
    task_text,
    templates,
)
from bbllm_planners.hands import GrowingPlan
from bbllm_planners.llm_pop.grammar import (
    MAX_ACTIONS,
    PlannerReply,
    PopAction,
    parse_evaluator,
    parse_planner,
)
from bbllm_planners.llm_pop.history import (
    DONE,
    FAILED,
    PromptHistory,
    Round,
    TriedAction,
    budget_of,
)

CURRENT = 'the current observation, see below'


def evaluator_prompt(task: Task, scene: Scene, history: str) -> str:
    """Return the prompt that asks for an evaluation."""
    return _render('evaluator', task, scene, history)


def planner_prompt(task: Task, scene: Scene, history: str, evaluation: str | None) -> str:
    """Return the prompt that asks for the next actions; without evaluation, also for the end."""
    return _render(
        'planner',
        task,
        scene,
        history,
        most=MAX_ACTIONS,
        evaluated=evaluation is not None,
        evaluation=one_line(evaluation or ''),
    )


def _render(name: str, task: Task, scene: Scene, history: str, **values: object) -> str:
    # Without its last line break an included part would run into what follows it.
    found = templates('bbllm_planners.llm_pop', keep_trailing_newline=True)
    common: dict[str, object] = {
        'task': task_text(task),
        'history': _without_current(history, scene),
        'situation': [*situation(scene)],
    }
    return found.get_template(f'{name}.md.j2').render(common | values).rstrip()


def _without_current(history: str, scene: Scene) -> str:
    """Return a history that refers to the current observation where it would repeat it."""
    head, last, tail = history.rpartition('\nObservation ')
    number, _, seen = tail.partition('\n')[0].partition(': ')
    if not last or seen != str(observed(scene)):
        return history
    return f'{head}{last}{number}: {CURRENT}{tail.removeprefix(f"{number}: {seen}")}'


def situation(scene: Scene) -> Iterator[str]:
    yield from (table_line(item) for item in scene.objects if item.kind is Kind.FIXTURE)
    for item in scene.objects:
        if item.kind in MOVABLE:
            size = ' '.join(f'{value:.3f}' for value in item.size_m)
            color = item.color or 'no colour'
            yield f'Block: {item.name}, {item.kind.value}, {color}, size {size}'
    for item in scene.objects:
        if item.kind is Kind.LOCATION:
            x, y, _ = item.pose.position_m
            yield f'Location: {item.name}, centre {x:.3f} {y:.3f}'
    for name in lost_names(scene):
        yield f'Lost: {lost_text(scene, name)}'
    yield f'Observation: {observed(scene)}'


def table_line(item: SceneObject) -> str:
    """Return the position, size and top of a table [m]."""
    x, y, z = item.pose.position_m
    along, across, height = item.size_m
    top = round(z + height / 2, 3) + 0.0  # adding zero turns the -0.0 of rounding into 0.0
    return f'Table: centre {x:.3f} {y:.3f}, size {along:.3f} {across:.3f}, top {top:.3f}'


Tried = Sequence[tuple[str, Observed]]
"""Why each tried action failed, '' if it did not, with the observation after it."""


@dataclass
class Loops:
    """
    The rounds of an episode against K, which counts failures of the robot alone.

    A round that only a remark or a denial has made necessary is one more than K allows.
    """

    most: int
    """How many rounds may follow the first."""
    n_rounds: int = 0
    remarked: bool = False
    """Whether the next round is one that a remark or a denial has made necessary."""
    _failed: bool = False

    def take_remarks(self, context: EpisodeContext) -> None:
        """Take the remarks that wait, and make room for what they need."""
        remarks = context.take_human_feedback()
        if remarks and self.n_rounds and not self.remarked:
            self.remarked = not self._failed or self.n_rounds > self.most
            self.most += self.remarked

    @property
    def has_room(self) -> bool:
        """Whether one more round is allowed."""
        return self.n_rounds <= self.most

    def end_round(self, tried: Tried, context: EpisodeContext) -> None:
        """Count a round. What a person did not approve, the robot has not failed in."""
        self.n_rounds += 1
        self.remarked = False
        # Denials and withdrawn questions come with a word that waits; others are the robot's.
        self._failed = bool(tried[-1][0]) and not context.spoken


@dataclass(frozen=True)
class LLMPop(ModelPlanner):
    """
    The planning method of the paper.

    Source: Sun et al., section 4, appendix A.1 and A.2; docs/planners/llm-pop.md lists departures.
    Evaluator and planner are one model under two prompts. `k` rounds may follow the first.
    """

    evaluated: bool = True
    """Whether the model is asked under the evaluator's prompt before it plans."""

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work in rounds until the task is judged to be done, or raise GaveUpError."""
        with context.taking_remarks():
            self._run(task, world, context)

    def _run(self, task: Task, world: World, context: EpisodeContext) -> None:
        history = PromptHistory(budget_of(self.brain), on_short=context.warn)
        plan, loops = GrowingPlan(context), Loops(self.k)
        while True:
            try:
                loops.take_remarks(context)
                decided = self._decide(context.current(task), world, history, loops, context)
            except errors.SpokenError:
                continue
            if decided is None:
                return
            reason, reply = decided
            actions = list(map(str, reply.actions))
            if history.n_rounds:
                begun = events.RepairBegun.of(PlanStep(plan.next, actions[0]), reason)
                context.emit(replace(begun, remarked=loops.remarked))
            plan.go_on(actions)
            tried = attempt_all(plan.left, reply.actions, world, context)
            loops.end_round(tried, context)
            results = [
                TriedAction(text, f'{FAILED}{cause}' if cause else DONE, seen)
                for text, (cause, seen) in zip(actions, tried, strict=False)
            ]
            results += map(TriedAction, actions[len(tried) :])
            history.add(Round(reply.explanation, tuple(results)))
            plan.next += len(tried)

    def _decide(
        self,
        task: Task,
        world: World,
        history: PromptHistory,
        loops: Loops,
        context: EpisodeContext,
    ) -> tuple[str, PlannerReply] | None:
        """Return the reason for a round and its plan, None if the task is done."""
        evaluated: str | None = None
        if self.evaluated:
            scene = world.observe()
            success, evaluated = history.ask(
                self.brain,
                partial(evaluator_prompt, task, scene),
                parse_evaluator,
                request=PromptRequest(kind='evaluate', scene=scene),
                on_retry=context.warn,
            )
            if success:
                context.report_done()
                return None
            self._need_round(loops, evaluated)
        scene = world.observe()
        reply = history.ask(
            self.brain,
            partial(planner_prompt, task, scene, evaluation=evaluated),
            partial(parse_planner, may_end=not self.evaluated),
            request=PromptRequest(kind='plan', scene=scene),
            on_retry=context.warn,
            person=context,
        )
        if not reply.actions:
            context.report_done()
            return None
        reason = reply.explanation if evaluated is None else evaluated
        self._need_round(loops, reason)
        return reason, reply

    def _need_round(self, loops: Loops, reason: str) -> None:
        if not loops.has_room:
            used = f'all {self.k} feedback loops are used up' if self.k else 'K is 0'
            raise errors.GaveUpError(f'The task is not done, and {used}: {reason}')


def attempt_all(
    steps: Sequence[PlanStep],
    actions: Sequence[PopAction],
    world: World,
    context: EpisodeContext,
) -> Tried:
    """
    Execute actions until one fails, or a remark comes between two.

    An action with a problem is not executed.
    """
    tried: list[tuple[str, Observed]] = []
    for step, action in zip(steps, actions, strict=True):
        if tried and context.spoken:
            break
        context.emit(events.StepBegun.of(step))
        if cause := action.problem:
            context.warn(f'Nothing was moved at step {step.index}. {cause}')
        else:
            outcome = world.execute(action.call)
            if not outcome.succeeded:
                cause = outcome.message or f'{outcome.call} failed: {outcome.code.name}.'
        tried.append((cause, observed(world.observe())))
        if cause:
            break
    return tried


def llm_pop_no_evaluator(brain: ChatModel, body: Body, *, k: int = 3) -> LLMPop:
    """Return the paper's ablation `w/o evaluator`: the planner itself reports the end."""
    return LLMPop(brain, body, k=k, evaluated=False)


LLM_POP = PlannerSpec(
    factory=LLMPop,
    uses_force=True,
    asks_body=False,
    domains=frozenset({'tabletop'}),
)
LLM_POP_NO_EVALUATOR = replace(LLM_POP, factory=llm_pop_no_evaluator)
