"""A plan that breaks a rule is as unfaithful where FLTRNN refuses it as where a world hears it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from household_cases import case_of, world_of

from bbllm.bench.scorers.faithfulness import Faithfulness, faithfulness_of
from bbllm.core.episode import EpisodeRun
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Planner
from bbllm.core.types import Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.fltrnn.baselines import PlanningOnly
from bbllm.planners.fltrnn.grammar import shown
from bbllm.planners.fltrnn.planner import FLTRNN

CASE = case_of('put_salmon_in_the_fridge')
NAMES = world_of(CASE).observe().names
GOAL = 'inside_salmon_fridge: 1'


def write(*calls: str) -> str:
    """Write `grab salmon` as a call on the first thing of the class, and the end below."""
    lines = []
    for text in calls:
        verb, *words = text.split()
        ids = [
            shown(next((n for n in NAMES if class_of(n) == word), f'{word}_9')) for word in words
        ]
        lines.append(f'{verb}({", ".join(map(repr, ids))})')
    return '\n'.join([*lines, '# done'])


def judged(planner: type[FLTRNN] | type[PlanningOnly], replies: Sequence[str]) -> Faithfulness:
    run = EpisodeRun(Task('t', GOAL), planner='p', brain='b', body='b')
    built: Planner = planner(ScriptedModel(replies), None)  # type: ignore[arg-type]
    return faithfulness_of(CASE, run.execute(built, world_of(CASE)))


@pytest.mark.parametrize(
    ('calls', 'rules'),
    [
        (('walk salmon', 'grab salmon', 'walk cereal', 'grab cereal'), {'two_at_once'}),
        (('fly tv',), {'unknown_action'}),
        (('walk unicorn',), {'unknown_object'}),
        (('walk microwave', 'open microwave', 'open microwave'), {'already_open'}),
        (('walk microwave', 'open microwave', 'switchon microwave'), {'on_while_open'}),
        (('walk livingroom', 'grab salmon'), {'not_in_room'}),
    ],
)
def test_the_same_plan_breaks_the_same_rules_with_and_without_a_memory_graph(
    calls: tuple[str, ...], rules: set[str]
) -> None:
    text = write(*calls)

    alone = judged(PlanningOnly, [text])
    refused = judged(FLTRNN, [f'subgoal{{{GOAL}}}', text, *['# done'] * 9])

    assert rules <= set(alone.counts)
    assert set(refused.counts) == set(alone.counts)


def test_a_plan_that_breaks_a_rule_and_is_mended_when_told_was_broken_all_the_same() -> None:
    bad = write('walk salmon', 'grab salmon', 'walk cereal', 'grab cereal')
    good = write('walk salmon', 'grab salmon', 'walk fridge', 'open fridge', 'putin salmon fridge')

    found = judged(FLTRNN, [f'subgoal{{{GOAL}}}', bad, good])

    assert found.counts == {'two_at_once': 1}
    assert judged(FLTRNN, [f'subgoal{{{GOAL}}}', good]).counts == {}
