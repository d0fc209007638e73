"""
The one prompt of Inner Monologue: all thoughts, actions and observations, or the newest of them.

Source: Huang et al., Inner Monologue, section 3: feedback of several kinds (success, scene,
people) is part of one prompt that grows with the episode. The words are our own.
"""

from collections.abc import Sequence

from bbllm.core.types import Outcome, Scene, Task
from bbllm.planners.common.low_level_plan import action_forms, low_level_actions
from bbllm.planners.common.observation_text import changes, observation, text_of
from bbllm.planners.common.prompting import one_line, render
from bbllm.planners.common.scene_graph import HOUSEHOLD
from bbllm.planners.common.short_names import ShortNames


class Monologue:
    """
    The newest steps of an episode as text, and the full scene before the oldest of them.

    It keeps as many steps as the window, or all.
    """

    def __init__(self, names: ShortNames, first: Scene, window: int | None = None):
        self._names = names
        self._window = window
        self.heard: list[str] = []
        """Feedback of people before the first step, and during removed steps."""
        self.n_left_out = 0
        self.steps: list[list[str]] = []
        """The lines of each step in the window, oldest first, without feedback."""
        self._heard: list[list[str]] = []
        """Feedback of people after each step."""
        self._seen = [observation(first, names)]
        """The scene before each step, and the newest one."""

    @property
    def told(self) -> str:
        """The scene before the oldest step in the window, and the steps."""
        lines = [f'Scene: {text_of(self._seen[0])}']
        for step, heard in zip(self.steps, self._heard, strict=True):
            lines += [*step, *(f'Human: {one_line(text)}' for text in heard)]
        return '\n'.join(lines)

    def hear(self, texts: Sequence[str]) -> None:
        """Add feedback of people since the last step."""
        (self._heard[-1] if self._heard else self.heard).extend(texts)

    def add(
        self, thought: str, action: str, outcome: Outcome | None, after: Scene, *, why: str = ''
    ) -> None:
        """Add a step, without outcome if the action is invalid; remove the oldest of too many."""
        seen = observation(after, self._names)
        success = 'yes' if outcome is not None and outcome.succeeded else 'no'
        if success == 'no' and (cause := self._names.in_short(why)):
            success += f': {cause}'
        self.steps.append(
            [
                f'Robot thought: {thought}',
                f'Robot action: {action}',
                f'Success: {success}',
                f'Scene: {changes(self._seen[-1], seen)}',
            ]
        )
        self._heard.append([])
        self._seen.append(seen)
        if self._window is not None and len(self.steps) > self._window:
            self.n_left_out += 1
            self.heard += self._heard.pop(0)
            del self.steps[0], self._seen[0]


def next_prompt(task: Task, monologue: Monologue, scene: Scene) -> str:
    calls = action_forms(low_level_actions(scene))
    return render(
        'bbllm.planners.inner_monologue',
        'next',
        house=scene.domain == HOUSEHOLD,
        actions=calls,
        examples=[*calls, *calls][:2],
        task=one_line(task.instruction),
        said=[one_line(text) for text in monologue.heard],
        n_left_out=monologue.n_left_out,
        told=monologue.told,
    )
