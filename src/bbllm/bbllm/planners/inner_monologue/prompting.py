"""
The one prompt of Inner Monologue: all that was thought, done and seen, or the newest part of it.

Source: Huang et al., Inner Monologue: Embodied Reasoning through Planning with Language Models,
section 3: feedback of several kinds (success, scene, people) is put into one prompt that grows
with the episode. The words are our own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import Outcome, Scene, Skill, Task
from bbllm.planners.common.low_level_plan import (
    MAX_LINE,
    LowLevelCall,
    low_level_actions,
    read_call,
)
from bbllm.planners.common.observation_text import NOTHING_NEW, changes, observation_text
from bbllm.planners.common.prompting import one_line, templates
from bbllm.planners.common.reply_diagnostics import RejectedLine, more_lines, reason_of, says_done
from bbllm.planners.common.scene_graph import HOUSEHOLD
from bbllm.planners.common.short_names import ShortNames

SUCCESS = {True: 'yes', False: 'no'}
THOUGHT_KEPT = 500
"""How much of a thought is kept [characters]."""
MAX_THOUGHT = 2000
"""How much of a line is read at all [characters]."""
EXTRA_TOLD = 10
"""How many of the lines behind an action are told one by one; the others are told in one."""

_LABELLED = re.compile(
    r'[\s>*_`-]*(?:robot\s+)?(?P<label>thought|action)[*_`\s]*:[*_`\s]*(?P<text>.*)', re.IGNORECASE
)
_SAYS = re.compile(r'[\s>*_`-]*(?:scene|human|success)[*_`\s]*:', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a reply says is next."""

    thought: str
    call: LowLevelCall | RejectedLine | None
    """None where all is done; what is left out is an action that there is not."""
    extra: tuple[str, ...] = ()
    """Lines behind the action, which the model imagined; the last may stand for many."""


@dataclass(frozen=True, slots=True)
class MonologueStep:
    """One step that was taken, as the prompt tells it from then on."""

    thought: str
    action: str
    succeeded: bool
    why: str = ''
    """Why it failed, where that is told."""
    scene: str = NOTHING_NEW
    """What was seen afterwards that was not so before."""
    heard: tuple[str, ...] = ()
    """What people said then."""

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
    What has been said so far: a scene in full, and what came after it.

    Only the newest `window` steps are kept. The scene in full is then that in which the oldest
    of them was taken, so that where things are stays known, and what was done to them does not.

    Args:
        names: What things are called.
        first: The scene at the start.
        window: How many steps are kept; None keeps all.
    """

    names: ShortNames
    first: Scene
    window: int | None = None
    heard: list[str] = field(default_factory=list)
    """What people said before the first step, or in steps that are no longer kept."""
    n_left_out: int = 0
    _steps: list[MonologueStep] = field(default_factory=list)
    _seen: list[str] = field(default_factory=list)
    """The scene before each step that is kept, and the newest one."""

    def __post_init__(self) -> None:
        self._seen.append(observation_text(self.first, self.names))

    @property
    def steps(self) -> Sequence[MonologueStep]:
        """The steps that are kept, oldest first."""
        return tuple(self._steps)

    @property
    def scene(self) -> str:
        """The scene before the oldest step that is kept."""
        return self._seen[0]

    def hear(self, texts: Sequence[str]) -> None:
        """Take what people have said since the last step."""
        if self._steps:
            last = self._steps[-1]
            self._steps[-1] = replace(last, heard=(*last.heard, *texts))
        else:
            self.heard += texts

    def add(
        self,
        thought: str,
        action: str,
        outcome: Outcome | None,
        after: Scene,
        *,
        why: str = '',
    ) -> None:
        """
        Add a step, and forget the oldest where there are too many.

        Args:
            thought: What the robot thought.
            action: What it did, in its own words.
            outcome: How that went; None where there is no such action, so that nothing was tried.
            after: What is seen now.
            why: Why it failed, where that is to be told.
        """
        seen = observation_text(after, self.names)
        new = changes(self._seen[-1], seen)
        succeeded = outcome is not None and outcome.succeeded
        told = '' if succeeded else self.names.in_short(why)
        self._steps.append(MonologueStep(thought, action, succeeded, told, new))
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
        """Write the prompt that asks for the next thought and action."""
        actions = low_level_actions(scene)
        calls = [f'{skill.name}({", ".join(skill.params)})' for skill in actions]
        return self._template.render(
            house=scene.domain == HOUSEHOLD,
            actions=calls,
            examples=[*calls, *calls][:2],
            task=one_line(task.instruction),
            said=[one_line(text) for text in monologue.heard],
            n_left_out=monologue.n_left_out,
            told='\n'.join(
                [
                    f'Scene: {monologue.scene}',
                    *(line for step in monologue.steps for line in step.lines),
                ]
            ),
        ).rstrip()


def parse_next(text: str, actions: Sequence[Skill]) -> NextStep:
    """
    Read a thought and an action; what follows them the model only imagined.

    Args:
        text: The reply; it may go on where the prompt ends, with a thought without its label.
        actions: What can be done.

    Raises:
        ParseError: There is no action in it; says what would be accepted.
        GaveUpError: The action `cannot: <reason>`.
    """
    thought, cannot = '', ''
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for i, whole in enumerate(lines):
        line = whole[:MAX_THOUGHT]  # so that no pattern is slow
        found = _LABELLED.fullmatch(line)
        if _SAYS.match(line):
            break  # what the world or people say is not for the model to make up
        if found is None or found['label'].lower() == 'thought':
            reason = reason_of(line) if found is None else None
            cannot = cannot or reason or ''
            words = found['text'] if found else line
            thought = f'{thought} {words}'.strip()[:MAX_THOUGHT]
            continue
        action = found['text'][:MAX_LINE].strip().rstrip('`*').strip()
        extra = _told(lines[i + 1 :])
        kept = one_line(thought)[:THOUGHT_KEPT]
        if len(found['text']) > MAX_LINE:
            why = f'It has more than {MAX_LINE} characters.'
            return NextStep(kept, RejectedLine(action, why), extra)
        if reason := reason_of(action):
            raise GaveUpError(reason)
        if says_done(action):
            return NextStep(kept, None, extra)
        return NextStep(kept, read_call(action.strip('`* '), actions), extra)
    if cannot:  # a thought that says so before an action is a thought
        raise GaveUpError(cannot)
    raise ParseError(
        f'No action was found in {text.strip()[:80]!r}. Reply with two lines, `Robot thought: ` '
        'and `Robot action: `; the action is one call, or `done`, or `cannot: ` and why.'
    )


def _told(lines: Sequence[str]) -> tuple[str, ...]:
    """Return what is told of lines that are left out."""
    n_more = len(lines) - EXTRA_TOLD
    more = [more_lines(n_more)] if n_more > 0 else []
    return (*(line[:MAX_LINE] for line in lines[:EXTRA_TOLD]), *more)
