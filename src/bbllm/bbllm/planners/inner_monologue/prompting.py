"""
The one prompt of Inner Monologue: all thoughts, actions and observations, or the newest of them.

Source: Huang et al., Inner Monologue: Embodied Reasoning through Planning with Language Models,
section 3: feedback of several kinds (success, scene, people) is part of one prompt that grows
with the episode. The words are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.types import Outcome, Scene, Task
from bbllm.planners.common.low_level_plan import action_forms, low_level_actions
from bbllm.planners.common.observation_text import NOTHING_NEW, changes, observation_text
from bbllm.planners.common.prompting import one_line, templates
from bbllm.planners.common.scene_graph import HOUSEHOLD
from bbllm.planners.common.short_names import ShortNames

SUCCESS = {True: 'yes', False: 'no'}


@dataclass(frozen=True, slots=True)
class MonologueStep:
    """One step in the prompt."""

    thought: str
    action: str
    succeeded: bool
    why: str = ''
    """The reason of a failure, if the prompt states it."""
    scene: str = NOTHING_NEW
    """Changes of the scene after it."""
    heard: tuple[str, ...] = ()
    """Feedback of people after it."""

    @property
    def lines(self) -> list[str]:
        """The step as lines of a prompt, the thought first."""
        why = f': {self.why}' if self.why else ''
        return [
            f'Robot thought: {self.thought}',
            f'Robot action: {self.action}',
            f'Success: {SUCCESS[self.succeeded]}{why}',
            f'Scene: {self.scene}',
            *(f'Human: {one_line(text)}' for text in self.heard),
        ]


@dataclass(slots=True)
class Monologue:
    """
    The newest steps of an episode, and the full scene before the oldest of them.

    Args:
        names: The names in prompts.
        first: The scene at the start.
        window: How many steps are kept; None keeps all.
    """

    names: ShortNames
    first: Scene
    window: int | None = None
    heard: list[str] = field(default_factory=list)
    """Feedback of people before the first step, and during removed steps."""
    n_left_out: int = 0
    _steps: list[MonologueStep] = field(default_factory=list)
    _seen: list[str] = field(default_factory=list)
    """The scene before each step, and the newest one."""

    def __post_init__(self) -> None:
        self._seen.append(observation_text(self.first, self.names))

    @property
    def steps(self) -> Sequence[MonologueStep]:
        """The steps in the window, oldest first."""
        return tuple(self._steps)

    @property
    def scene(self) -> str:
        """The scene before the oldest step in the window."""
        return self._seen[0]

    def hear(self, texts: Sequence[str]) -> None:
        """Add feedback of people since the last step."""
        if self._steps:
            last = self._steps[-1]
            self._steps[-1] = replace(last, heard=(*last.heard, *texts))
        else:
            self.heard += texts

    def add(
        self, thought: str, action: str, outcome: Outcome | None, after: Scene, *, why: str = ''
    ) -> None:
        """
        Add a step, and remove the oldest if there are too many.

        Args:
            thought: The thought of the model.
            action: Its action, in its own words.
            outcome: The result; None if the action is invalid.
            after: The scene after it.
            why: Why it failed, if the prompt states it.
        """
        seen = observation_text(after, self.names)
        succeeded = outcome is not None and outcome.succeeded
        cause = '' if succeeded else self.names.in_short(why)
        new = changes(self._seen[-1], seen)
        self._steps.append(MonologueStep(thought, action, succeeded, cause, new))
        self._seen.append(seen)
        if self.window is not None and len(self._steps) > self.window:
            self.n_left_out += 1
            self.heard += self._steps.pop(0).heard
            del self._seen[0]


class MonologuePrompt:
    """Renders the prompt."""

    def __init__(self) -> None:
        self._template = templates('bbllm.planners.inner_monologue').get_template('next.md.j2')

    def next(self, task: Task, monologue: Monologue, scene: Scene) -> str:
        """Return the prompt that asks for the next thought and action."""
        calls = action_forms(low_level_actions(scene))
        steps = [line for step in monologue.steps for line in step.lines]
        return self._template.render(
            house=scene.domain == HOUSEHOLD,
            actions=calls,
            examples=[*calls, *calls][:2],
            task=one_line(task.instruction),
            said=[one_line(text) for text in monologue.heard],
            n_left_out=monologue.n_left_out,
            told='\n'.join([f'Scene: {monologue.scene}', *steps]),
        ).rstrip()
