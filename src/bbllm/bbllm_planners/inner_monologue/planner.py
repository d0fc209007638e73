"""
Inner Monologue: one step at a time, in one prompt that grows by the result of each.

Source: Huang et al., Inner Monologue, section 3: feedback of several kinds (success, scene,
people) is part of one prompt, with all thoughts, actions and observations, or the newest of them.
The words of the prompt are our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from bbllm import EpisodeContext, Outcome, Scene, Task, World, errors, events
from bbllm.planning import (
    ModelPlanner,
    PlannerSpec,
    PromptRequest,
    ShortNames,
    beside,
    changes,
    language_of,
    one_line,
    render,
    text_of,
)
from bbllm_planners.hands import Hands
from bbllm_planners.inner_monologue.grammar import parse_next
from bbllm_planners.low_level_plan import action_forms


def _remark_line(remark: events.FeedbackReceived) -> str:
    return f'{f"Program {remark.by}" if remark.by else "Human"}: {one_line(remark.text)}'


class Monologue:
    """
    The newest steps of an episode as text, and the full scene before the oldest of them.

    It keeps at most as many steps as the window, or all. Of too many it removes half a window at a
    time, so that in between each prompt begins with the one before, which a server can cache.
    """

    def __init__(self, names: ShortNames, first: Scene, window: int | None = None):
        self._names = names
        self._window = window
        self.remarks: list[events.FeedbackReceived] = []
        """Feedback of people before the first step, and during removed steps."""
        self.n_left_out = 0
        self.steps: list[list[str]] = []
        """The lines of each step in the window, oldest first, without feedback."""
        self._remarks: list[list[events.FeedbackReceived]] = []
        """Feedback of people after each step."""
        self._seen = [language_of(first).observation(first, names)]
        """The scene before each step, and the newest one."""

    @property
    def reported(self) -> str:
        """The scene before the oldest step in the window, and the steps."""
        lines = [f'Scene: {text_of(self._seen[0])}']
        for step, remarks in zip(self.steps, self._remarks, strict=True):
            lines += [*step, *map(_remark_line, remarks)]
        return '\n'.join(lines)

    def take_remarks(self, remarks: Sequence[events.FeedbackReceived]) -> None:
        (self._remarks[-1] if self._remarks else self.remarks).extend(remarks)

    def add(
        self, thought: str, action: str, outcome: Outcome | None, after: Scene, *, why: str = ''
    ) -> None:
        """Add a step, without outcome if the action is invalid; remove the oldest of too many."""
        seen = language_of(after).observation(after, self._names)
        success = 'yes' if outcome is not None and outcome.succeeded else 'no'
        if success == 'no' and (cause := self._names.in_short(why)):
            success += f': {cause}'
        step = [f'Robot thought: {thought}', f'Robot action: {action}', f'Success: {success}']
        self.steps.append([*step, f'Scene: {changes(self._seen[-1], seen)}'])
        self._remarks.append([])
        self._seen.append(seen)
        if self._window is not None and len(self.steps) > self._window:
            n = max(1, self._window // 2)
            self.n_left_out += n
            self.remarks += [remark for remarks in self._remarks[:n] for remark in remarks]
            del self._remarks[:n], self.steps[:n], self._seen[:n]


def next_prompt(task: Task, monologue: Monologue, scene: Scene) -> str:
    """Return the prompt for the next step."""
    language = language_of(scene)
    skills = language.low_level_actions(scene)
    return render(
        'bbllm_planners.inner_monologue',
        f'{language.name}/next',
        actions=action_forms(skills),
        documented=action_forms(skills, documented=True),
        task='\n'.join(filter(None, [one_line(task.instruction), beside(task)])),
        said=list(map(_remark_line, monologue.remarks)),
        n_left_out=monologue.n_left_out,
        told=monologue.reported,
    )


MAX_STEPS = 300
"""How many thoughts an episode may have; the paper sets no limit."""
IMAGINED = 'It stands behind the action; its result is not for the model to state.'


@dataclass(frozen=True, slots=True)
class InnerMonologueOptions:
    """Options of the planner."""

    window: Literal[5, 10, 20, 40, 'all'] = 20
    """At most how many of the newest steps the prompt contains; at least half as many."""
    messages: bool = False
    """Whether it has the reason of a failure; in the paper it has only the failure."""


@dataclass(frozen=True)
class InnerMonologue(ModelPlanner):
    """
    The planning method of the paper, and with a window that of its baseline in LLM-State.

    Source: Huang et al., Inner Monologue; Chen et al., LLM-State, section IV (InnerMonologue-W: a
    window of unspecified length, because the whole monologue outgrows the model's context).
    """

    options: InnerMonologueOptions = InnerMonologueOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work on the task until the model reports the end, or raise GaveUpError."""
        with context.taking_remarks():
            self._run(task, world, context)

    def _run(self, task: Task, world: World, context: EpisodeContext) -> None:
        hands = Hands(world, context)
        window = None if self.options.window == 'all' else self.options.window
        monologue = Monologue(hands.names, hands.scene, window)
        for _ in range(MAX_STEPS):
            monologue.take_remarks(context.take_human_feedback())
            prompt = next_prompt(task, monologue, hands.scene)
            read = partial(parse_next, actions=hands.actions)
            request = PromptRequest(kind='next_action', scene=hands.scene)
            try:
                step = self.ask(prompt, read, request, context, on_answer=monologue.take_remarks)
            except errors.SpokenError:
                continue
            for line in step.extra:
                context.emit(events.LineDiscarded(line, IMAGINED))
            if step.call is None:
                context.report_done()
                return
            if isinstance(step.call, events.LineDiscarded):
                context.emit(step.call)
                # No call was made, so that the fault is in the grammar, and always stated.
                monologue.add(step.thought, step.call.text, None, hands.scene, why=step.call.why)
                hands.idle(True)
                continue
            hands.carry_out([step.call])
            outcome = hands.history[-1]
            why = outcome.message if self.options.messages else ''
            monologue.add(step.thought, str(step.call), outcome, hands.scene, why=why)
        raise errors.GaveUpError(
            f'After {MAX_STEPS} thoughts the model has not replied that it is done. A lower '
            'limit of steps would have ended this earlier.'
        )


INNER_MONOLOGUE = PlannerSpec(
    factory=InnerMonologue, options=InnerMonologueOptions(), uses_feedback=False, asks_body=False
)
