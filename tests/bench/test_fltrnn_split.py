"""`expert` splits goals for FLTRNN into what the prompt allows, seen in whole or in part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from household_cases import TASKS, case_of
from test_fltrnn_voice import played

from bbllm.bench.household_expert.model import HouseholdExpert
from bbllm.core.protocols import Message
from bbllm.planners.fltrnn.prompting import SPLIT

PREDICATE = re.compile(r'\b(?:on|inside|closed|open|turnon|turnoff|holds|sit)_([a-z_]+): \d')


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Keep each prompt that asks for sub-goals, with expert's reply."""
    heard: list[tuple[str, str]] = []
    answer = HouseholdExpert._answer

    def listen(self: HouseholdExpert, messages: Sequence[Message]) -> str:
        reply = answer(self, messages)
        prompt = '\n'.join(message.content for message in messages)
        if prompt.startswith(SPLIT):
            heard.append((prompt, reply))
        return reply

    monkeypatch.setattr(HouseholdExpert, '_answer', listen)
    return heard


@pytest.mark.parametrize('task', TASKS)
def test_predicates_are_of_listed_classes_where_all_is_in_sight(
    task: str, splits: list[tuple[str, str]]
) -> None:
    played('fltrnn', case_of(task, trial=1))

    (prompt, reply) = splits[0]
    listed = prompt.rpartition('# Classes: ')[2].partition('\n')[0].split(', ')
    named = {name for words in PREDICATE.findall(reply) for name in words.split('_')}
    assert named <= {*listed}


def test_what_a_task_is_about_may_be_where_nobody_has_looked_yet(
    splits: list[tuple[str, str]],
) -> None:
    case = case_of('watch_tv', trial=1)
    seen = case.house.model_copy(update={'visibility': 'rooms_seen'})

    played('fltrnn', replace(case, scene=seen))

    (prompt, reply) = splits[0]
    listed = prompt.rpartition('# Classes in sight: ')[2].partition('\n')[0].split(', ')
    assert 'tv' not in listed
    assert 'turnon_tv: 1' in reply
