"""
The prompts of LLM-POP: one for its evaluator, one for its planner, and the history in both.

Source: Sun et al., appendix A.1 and A.2: the same parts in the same order, in other words. Labels
in brackets and words before a colon structure the prompts; so text from outside is on one line.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bbllm.core.observation import Observed, lost_names, lost_text, observed
from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject, Task
from bbllm.planners.common.prompt_history import HistoryForm
from bbllm.planners.common.prompting import one_line, templates

NOTHING = 'None.'
"""The history of an episode without rounds."""
DONE = 'done'
FAILED = 'failed: '
"""Precedes the cause of a failure."""
NOT_TRIED = 'not tried'
"""Result of actions after a failed one."""


@dataclass(frozen=True, slots=True)
class TriedAction:
    """One action of a plan, and its result."""

    action: str
    """The text of the planner, without the word ACTION."""
    result: str = NOT_TRIED
    observation: Observed | None = None
    """The observation after it; None if it was not tried."""

    def in_short(self) -> str:
        words = f'{self.action} {one_line(self.result)}'
        if self.observation is None or self.observation.force_n is None:
            return words
        return f'{words}, force z {self.observation.force_n[2] + 0.0:.2f}'


@dataclass(frozen=True, slots=True)
class Round:
    """One plan with its results."""

    explanation: str
    tried: tuple[TriedAction, ...] = ()

    def in_full(self, number: int) -> str:
        lines = [f'== Round {number} ==', f'Explanation: {one_line(self.explanation)}']
        for i, item in enumerate(self.tried):
            lines += [f'Action {i}: {item.action}', f'Result {i}: {one_line(item.result)}']
            if item.observation is not None:
                lines.append(f'Observation {i}: {item.observation}')
        return '\n'.join(lines)

    def in_short(self, number: int) -> str:
        done = '; '.join(item.in_short() for item in self.tried if item.result != NOT_TRIED)
        return f'Round {number} in short: {done or "nothing was done"}'


HISTORY = HistoryForm(
    empty=NOTHING, shortened='in a line each', omitted='Rounds before round {} are left out.'
)
"""
The history of an episode, with feedback of people between the rounds, as `Person: ...`.

    == Round 0 ==
    Explanation: weigh the red one first
    Action 0: PICK red_cube
    Result 0: done
    Observation 0: red_cube: [...] EEF: [...] Force: [...] Gripper: [...]
    Action 1: PLACE [0.5 0 0.02 1 0 0 0]
    Result 1: failed: The target is occupied by blue_cube.
    Observation 1: ...
    Action 2: RESET
    Result 2: not tried
"""


def feedback_line(text: str) -> str:
    return f'Person: {one_line(text)}'


def evaluator_prompt(task: Task, scene: Scene, history: str) -> str:
    """Return the prompt that asks how far the task has come."""
    return _render('evaluator', task, scene, history)


def planner_prompt(task: Task, scene: Scene, history: str, evaluation: str | None) -> str:
    """Return the prompt that asks for the next actions; without evaluation, also for the end."""
    return _render(
        'planner',
        task,
        scene,
        history,
        blocks=[item.name for item in scene.objects if item.kind in MOVABLE],
        evaluated=evaluation is not None,
        evaluation=one_line(evaluation or ''),
    )


def _render(name: str, task: Task, scene: Scene, history: str, **values: object) -> str:
    # Without its last line break an included part would run into what follows it.
    found = templates('bbllm.planners.llm_pop', keep_trailing_newline=True)
    common: dict[str, object] = {
        'task': one_line(task.instruction),
        'history': history,
        'situation': [*situation(scene)],
    }
    return found.get_template(f'{name}.md.j2').render(common | values).rstrip()


def situation(scene: Scene) -> Iterator[str]:
    """Yield the current observations, a line each, in metres and newtons."""
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
