"""BrainBody with an open state: what its Brain is told, and what a stand-in makes of it."""

from __future__ import annotations

from typing import Any

from chosen import chosen
from symbolic_table import busy_table
from test_brain_body import PLAN, TASK, LiteralBody

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode, EventKind
from bbllm.core.types import Code, Fact, Scene, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.common.belief.open_facts import with_open_facts
from bbllm.planners.common.belief.open_state import OpenState

MISSED = ('pick(red_cube)', Code.GRASP_FAILED, 'The fingers closed on nothing.')
AGAIN = 'Explanation: once more.\nNew plan:\n0: pick(red_cube)\n1: place(location_A)'
HEADING = 'Believed, not sensed:'


def play(
    brain: Any, world: Any, *, task: Task = TASK, body: Any = None, k: int = 3, **options: str
) -> Episode:
    run = EpisodeRun(task, planner='brain_body', brain='b', body='b')
    planner = BrainBody(
        run.model(brain, 'brain'),
        body or LiteralBody(),
        k=k,
        options=chosen('brain_body', **options),
    )
    return run.execute(planner, world)


def believed_in(prompt: str) -> list[str]:
    """Return the lines under the last heading."""
    lines = prompt.rpartition(f'{HEADING}\n')[2] if HEADING in prompt else ''
    return lines.partition('\n\n')[0].splitlines()


def test_without_the_option_prompts_are_what_they_were() -> None:
    silent, plain = ScriptedModel([PLAN, AGAIN]), ScriptedModel([PLAN, AGAIN])

    play(silent, busy_table(faults=[MISSED]), open_state='no')
    play(plain, Believing(busy_table(faults=[MISSED])))

    assert HEADING not in silent.requests[1].prompt
    # What a node adds to scenes changes nothing for who did not ask for it.
    assert [r.prompt for r in plain.requests] == [r.prompt for r in silent.requests]


class Believing:
    """A world whose scenes bring an open state, as those of the node may."""

    def __init__(self, inner: Any):
        self._inner = inner
        self.skills, self.execute, self.stop = inner.skills, inner.execute, inner.stop

    def observe(self) -> Scene:
        return with_open_facts(
            self._inner.observe(), OpenState({'blue_cube': ('fixed_or_heavy',)})
        )


def test_what_scenes_bring_is_told_and_nothing_estimated_twice() -> None:
    brain = ScriptedModel([PLAN, AGAIN])

    episode = play(brain, Believing(busy_table(faults=[MISSED])), open_state='rules')

    fixed = str(Fact('blue_cube', 'is', 'fixed_or_heavy'))
    assert [believed_in(request.prompt) for request in brain.requests] == [[fixed], [fixed]]
    assert not [event for event in episode.events if event.kind is EventKind.ESTIMATED]


def test_what_is_believed_in_words_that_no_scene_holds_is_told_as_refused_once() -> None:
    estimate = 'update_state("red_cube", "sticky | touches blue_cube | near the edge")'
    brain = ScriptedModel([PLAN, estimate, AGAIN, estimate, AGAIN, *[estimate] * 3])

    episode = play(brain, busy_table(faults=[MISSED, MISSED]), open_state='model', k=2)

    left_out = [e.data for e in episode.events if e.kind is EventKind.DISCARDED]
    assert [(line.text, line.refused) for line in left_out] == [
        ('red_cube: touches blue_cube', True),
        ('red_cube: near the edge', True),
    ]
    assert 'heavier_than' in str(left_out[0].why)
    assert believed_in(brain.requests[2].prompt) == ['(red_cube is sticky)']


def test_a_reply_that_cannot_be_read_leaves_what_was_believed() -> None:
    brain = ScriptedModel(
        [PLAN, 'update_state("red_cube", "sticky")', AGAIN, *['No.', 'No.'], AGAIN]
    )

    episode = play(brain, busy_table(faults=[MISSED, MISSED]), open_state='model', k=2)

    assert believed_in(brain.requests[5].prompt) == ['(red_cube is sticky)']
    warnings = [str(e.data.text) for e in episode.events if e.kind is EventKind.WARNING]
    assert any('stays as it was' in text for text in warnings)
