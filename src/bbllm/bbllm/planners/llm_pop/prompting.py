"""
The prompts of LLM-POP: one for its evaluator, one for its planner, and the history in both.

Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
Robotics Tasks, appendix A.1 and A.2: the same parts in the same order, in other words. The labels
in brackets and the words before a colon at the start of a line are a contract: models
find their way by them. So text from outside is put on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from bbllm.core.missing_objects import lost_names, lost_text
from bbllm.core.observation import Observed, observed
from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject, Task
from bbllm.planners.common.prompt_history import BUDGET, PromptHistory
from bbllm.planners.common.prompting import one_line, templates

NOTHING = 'None.'
"""The history of an episode that has done nothing yet."""
DONE = 'done'
FAILED = 'failed: '
"""Goes before the sentence that says why."""
NOT_TRIED = 'not tried'
"""What became of actions behind one that failed."""


@dataclass(frozen=True, slots=True)
class TriedAction:
    """One action of a plan, and what came of it."""

    action: str
    """As the planner wrote it, without the word ACTION."""
    result: str = NOT_TRIED
    observation: Observed | None = None
    """What was observed after it; None where it was not tried."""

    def in_short(self) -> str:
        """Return what became of it in a few words."""
        words = f'{self.action} {self.result}'
        if self.observation is None or self.observation.force_n is None:
            return words
        return f'{words}, force z {self.observation.force_n[2] + 0.0:.2f}'


@dataclass(frozen=True, slots=True)
class Round:
    """One plan, carried out as far as it went."""

    explanation: str
    tried: tuple[TriedAction, ...] = ()

    def in_full(self, number: int) -> str:
        """Write all of it."""
        lines = [f'== Round {number} ==', f'Explanation: {self.explanation}']
        for i, item in enumerate(self.tried):
            lines += [f'Action {i}: {item.action}', f'Result {i}: {item.result}']
            if item.observation is not None:
                lines.append(f'Observation {i}: {item.observation}')
        return '\n'.join(lines)

    def in_short(self, number: int) -> str:
        """Write it in one line."""
        done = '; '.join(item.in_short() for item in self.tried if item.result != NOT_TRIED)
        return f'Round {number} in short: {done or "nothing was done"}'


class History(PromptHistory):
    """
    The rounds of one episode, and what people said in between, which is never left out.

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

    What people said stands between the rounds, as `Person: ...`. Where the text would be longer
    than it may, the oldest rounds shrink to a line each, and where that is not enough they go.
    """

    in_short = 'in a line each'

    def __init__(
        self, budget: int | None = BUDGET, *, on_short: Callable[[str], None] | None = None
    ):
        super().__init__(budget, on_short=on_short)
        self._entries: list[Round | str] = []

    @property
    def n_rounds(self) -> int:
        """How many rounds there were."""
        return sum(isinstance(entry, Round) for entry in self._entries)

    def add(self, finished: Round) -> None:
        """Put the next round behind all that there is."""
        tried = tuple(replace(item, result=one_line(item.result)) for item in finished.tried)
        self._entries.append(Round(one_line(finished.explanation), tried))

    def hear(self, said: Iterable[str]) -> None:
        """Put what people said behind all that there is."""
        self._entries += [f'Person: {one_line(text)}' for text in said]

    def write(self, in_short: int = 0, left_out: int = 0) -> str:
        """See `PromptHistory.write`."""
        parts = [f'Rounds before round {left_out} are left out.'] if left_out else []
        number = 0
        for entry in self._entries:
            if isinstance(entry, str):
                parts.append(entry)
                continue
            if number >= in_short:
                parts.append(entry.in_full(number))
            elif number >= left_out:
                parts.append(entry.in_short(number))
            number += 1
        return '\n'.join(parts) or NOTHING


class PopPrompts:
    """Renders both prompts."""

    def __init__(self) -> None:
        # Without its last line break an included part would run into what follows it.
        self._templates = templates('bbllm.planners.llm_pop', keep_trailing_newline=True)

    def evaluator(self, task: Task, scene: Scene, history: str) -> str:
        """
        Write the prompt that asks how far the task has come.

        Args:
            task: What was asked for.
            scene: As it is now.
            history: What `pop_history.History.text` returns.
        """
        return self._render('evaluator', task, scene, history)

    def planner(self, task: Task, scene: Scene, history: str, evaluation: str | None) -> str:
        """
        Write the prompt that asks what to do next.

        Args:
            task: What was asked for.
            scene: As it is now.
            history: What `pop_history.History.text` returns.
            evaluation: The evaluator's reason; None where there is no evaluator, so that the
                planner has to say itself when the task is done.
        """
        return self._render(
            'planner',
            task,
            scene,
            history,
            blocks=[item.name for item in scene.objects if item.kind in MOVABLE],
            evaluated=evaluation is not None,
            evaluation=one_line(evaluation or ''),
        )

    def _render(self, name: str, task: Task, scene: Scene, history: str, **values: object) -> str:
        template = self._templates.get_template(f'{name}.md.j2')
        common: dict[str, object] = {
            'task': one_line(task.instruction),
            'history': history,
            'situation': [*situation(scene)],
        }
        return template.render(common | values).rstrip()


def situation(scene: Scene) -> Iterator[str]:
    """Yield what can be seen and felt now, a line each, in metres and newtons."""
    for item in scene.objects:
        if item.kind is Kind.FIXTURE:
            yield table_line(item)
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
    """Write what a piece of furniture is to the blocks: where its top is [m]."""
    x, y, z = item.pose.position_m
    along, across, height = item.size_m
    top = round(z + height / 2, 3) + 0.0  # adding zero turns the -0.0 of rounding into 0.0
    return f'Table: centre {x:.3f} {y:.3f}, size {along:.3f} {across:.3f}, top {top:.3f}'
