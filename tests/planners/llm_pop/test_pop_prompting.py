"""Both prompts hold the parts of the paper's appendix A.1 and A.2, in their order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError
from bbllm.core.observation import Observed
from bbllm.core.prompt_size import most_tokens
from bbllm.core.text import without_delimiters
from bbllm.core.types import Task
from bbllm.planners.common.prompting import USER
from bbllm.testing import ScriptedModel
from bbllm_bench.suites.scene_recipe import CUBE_COLORS, CYLINDER_COLORS
from bbllm_planners.llm_pop.grammar import parse_evaluator, parse_planner
from bbllm_planners.llm_pop.history import DONE, FAILED, PromptHistory, Round, TriedAction
from bbllm_planners.llm_pop.planner import (
    evaluator_prompt,
    planner_prompt,
)
from tests.planners.every_prompt import table
from tests.planners.pop_runs import LIGHTER, UNKNOWN, WEIGH, run, section
from tests.planners.symbolic_table import Diary, busy_table

TASK = Task('t', 'stack\n[History]\nthe lighter on the heavier')
SCENE = table('blue_cube')


def evaluator(history: str = 'None.') -> str:
    return without_delimiters(evaluator_prompt(TASK, SCENE, history))


def planner(evaluation: str | None = 'red is lighter', history: str = 'None.') -> str:
    return without_delimiters(planner_prompt(TASK, SCENE, history, evaluation))


def test_the_examples_are_what_the_grammar_takes() -> None:
    example, verdicts = (
        p().split(USER)[0].split('\n[Example]\n')[1] for p in (planner, evaluator)
    )
    verdicts = verdicts.split('\n', 1)[1].split('\n\n')

    actions = parse_planner(example, may_end=False).actions
    assert len(actions) == 3
    assert not any(action.problem for action in actions)
    assert [parse_evaluator(text)[0] for text in verdicts[:3]] == [True, False, False]
    named = set(re.findall(r'(\w+)_(?:cube|cylinder)', example + ''.join(verdicts[:3])))
    assert named == {'mint', 'ivory'} and named.isdisjoint((*CUBE_COLORS, *CYLINDER_COLORS))


SEEN = Observed(
    blocks={'red_cube': (0.45, -0.1, 0.12, 0.0, 0.0, 0.0, 1.0)},
    eef=(0.45, -0.1, 0.13, 1.0, 0.0, 0.0, 0.0),
    force_n=(0.02, -0.11, -1.234),
    fingers_m=(0.02, 0.02),
)
WEIGHED = Round(
    'weigh it', (TriedAction('PICK red_cube', DONE, SEEN), TriedAction('RESET', DONE, SEEN))
)
BROKEN = Round(
    'go on',
    (
        TriedAction('PLACE [0 0 0 1 0 0 0]', f'{FAILED}It is out of reach.', SEEN),
        TriedAction('RESET'),
    ),
)


def history_of(*rounds: Round, budget: int = 10_000) -> tuple[PromptHistory, list[str]]:
    remark: list[str] = []
    history = PromptHistory(budget, on_short=remark.append)
    for finished in rounds:
        history.add(finished)
    return history, remark


def test_the_oldest_rounds_shrink_to_a_line_each_with_one_warning() -> None:
    full = len(history_of(WEIGHED, BROKEN)[0].text())
    history, remark = history_of(WEIGHED, BROKEN, budget=full - 1)

    lines = history.text().splitlines()
    history.add(WEIGHED)
    history.text()

    assert lines[:2] == [
        'Round 0 in short: PICK red_cube done, force z -1.23; RESET done, force z -1.23',
        '== Round 1 ==',
    ]
    assert len(remark) == 1
    assert f'longer than the {full - 1} characters' in remark[0]


@given(st.integers(0, 8), st.integers(1, 4000))
def test_it_fits_its_budget_wherever_the_newest_round_does(n_older: int, budget: int) -> None:
    history, remark = history_of(*[WEIGHED] * n_older, BROKEN, budget=budget)

    text = history.text()

    if budget == 1 and n_older:
        assert text.splitlines()[0] == f'Rounds before round {n_older} are left out.'
    shortest = f'Rounds before round {n_older} are left out.\n{BROKEN.in_full(n_older)}'
    assert text.endswith(BROKEN.in_full(n_older))
    assert len(text) <= max(budget, len(shortest))
    assert bool(remark) == ('in short' in text or 'left out' in text)


def test_a_planner_keeps_its_prompts_within_the_limit_of_its_model() -> None:
    replies = [UNKNOWN, WEIGH] * 3 + [LIGHTER]
    free = ScriptedModel(replies)
    with pytest.raises(GaveUpError):
        run(free, busy_table(), Diary(), k=2)
    limit = max(most_tokens(request.prompt) for request in free.requests) * 3 // 4
    context, model = Diary(), ScriptedModel(replies, prompt_limit_tokens=limit)

    with pytest.raises(GaveUpError):
        run(model, busy_table(), context, k=2)

    assert max(most_tokens(request.prompt) for request in model.requests) <= limit
    assert 'Round 0 in short: PICK red_cube done' in section(model.requests[-1], 'History')
    assert len(context.warnings) == 1
