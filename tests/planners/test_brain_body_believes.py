"""BrainBody with an open state: what its Brain is told, and what a stand-in makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chosen import chosen
from test_brain_body import PLAN, TASK, LiteralBody

from bbllm.bench.oracle.model import offline
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode, EventKind
from bbllm.core.types import Code, Fact, Scene, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.body.language_model import BodyLLM
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.common.belief.open_facts import with_open_facts
from bbllm.planners.common.belief.open_state import OpenState

Tabletop = Callable[..., Any]

MISSED = ('pick(red_cube)', Code.GRASP_FAILED, 'The fingers closed on nothing.')
STUCK = ('pick(red_cube)', Code.WOULD_NOT_RISE, 'red_cube did not rise.')
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


def test_without_the_option_prompts_are_what_they_were(busy_table: Tabletop) -> None:
    silent, plain = ScriptedModel([PLAN, AGAIN]), ScriptedModel([PLAN, AGAIN])

    play(silent, busy_table(faults=[MISSED]), open_state='no')
    play(plain, Believing(busy_table(faults=[MISSED])))

    assert HEADING not in silent.requests[1].prompt
    # What a node adds to scenes changes nothing for who did not ask for it.
    assert [r.prompt for r in plain.requests] == [r.prompt for r in silent.requests]


def test_what_is_believed_goes_on_record_when_it_changes(busy_table: Tabletop) -> None:
    episode = play(ScriptedModel([PLAN, AGAIN]), busy_table(faults=[MISSED]), open_state='rules')

    told = [event.data for event in episode.events if event.kind is EventKind.ESTIMATED]
    assert told[0].attributes == {'red_cube': ('failed_grasp_once',)}
    assert told[1].attributes == {'red_cube': ()}


class Believing:
    """A world whose scenes bring an open state, as those of the node may."""

    def __init__(self, inner: Any):
        self._inner = inner
        self.skills, self.execute, self.stop = inner.skills, inner.execute, inner.stop

    def observe(self) -> Scene:
        return with_open_facts(
            self._inner.observe(), OpenState({'blue_cube': ('fixed_or_heavy',)})
        )


def test_what_scenes_bring_is_told_and_nothing_estimated_twice(busy_table: Tabletop) -> None:
    brain = ScriptedModel([PLAN, AGAIN])

    episode = play(brain, Believing(busy_table(faults=[MISSED])), open_state='rules')

    fixed = str(Fact('blue_cube', 'is', 'fixed_or_heavy'))
    assert [believed_in(request.prompt) for request in brain.requests] == [[fixed], [fixed]]
    assert not [event for event in episode.events if event.kind is EventKind.ESTIMATED]


def test_a_model_may_be_who_believes(busy_table: Tabletop) -> None:
    brain = ScriptedModel(
        [
            PLAN,
            'update_state("red_cube", "sticky | hard to grasp")\n'
            'update_state("unicorn", "pink")\nI hope this helps.',
            AGAIN,
            *['update_state("red_cube", "in place")'] * 3,
        ]
    )

    episode = play(brain, busy_table(faults=[MISSED]), open_state='model')

    asked = brain.requests[1].prompt
    assert 'pick(red_cube) Fail: The fingers closed on nothing.' in asked
    assert believed_in(brain.requests[2].prompt) == [
        '(red_cube is sticky)',
        '(red_cube is hard_to_grasp)',
    ]
    left_out = [e.data.text for e in episode.events if e.kind is EventKind.DISCARDED]
    assert any('unicorn' in str(text) for text in left_out)


def test_what_is_believed_in_words_that_no_scene_holds_is_told_as_refused_once(
    busy_table: Tabletop,
) -> None:
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


def test_a_reply_that_cannot_be_read_leaves_what_was_believed(busy_table: Tabletop) -> None:
    brain = ScriptedModel(
        [PLAN, 'update_state("red_cube", "sticky")', AGAIN, *['No.', 'No.'], AGAIN]
    )

    episode = play(brain, busy_table(faults=[MISSED, MISSED]), open_state='model', k=2)

    assert believed_in(brain.requests[5].prompt) == ['(red_cube is sticky)']
    warnings = [str(e.data.text) for e in episode.events if e.kind is EventKind.WARNING]
    assert any('stays as it was' in text for text in warnings)


def test_offline_leaves_alone_at_once_what_is_believed_fixed(busy_table: Tabletop) -> None:
    task = Task('t', 'put two cubes on location_A and location_B')
    loops = {}
    for how in ('no', 'rules'):
        world = busy_table(faults=[STUCK, STUCK, STUCK])
        episode = play(offline(), world, task=task, body=BodyLLM(offline()), open_state=how)
        loops[how] = (episode.feedback_loops, world.calls.count('pick(red_cube)'))
        assert len(world.things_on('location_A', 'location_B')) == 2

    assert loops == {'no': (2, 2), 'rules': (1, 1)}
