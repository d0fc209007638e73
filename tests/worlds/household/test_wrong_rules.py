"""A household with one rule that is wrong is told from the original by the same comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reference import SEED_VARIABLE, Case, Run, describe, draw_case, shrink

from bbllm.worlds.household import household
from bbllm.worlds.household.effects import forget_place, put
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.rule import Check, OnFailure, Rule
from bbllm.worlds.household.rules import RULES
from bbllm.worlds.household.vocabulary import Action, Relation

pytestmark = pytest.mark.usefixtures('original_household')

SEEDS = range(60)
LONGEST = 12
"""Of the scripts that are shown, which are drawn with 40 lines."""


def changed(action: Action, name: str, *instead: Check) -> Rule:
    """Return the rule of an action with other checks in the place of one."""
    rule = RULES[action]
    checks: list[Check] = []
    for check in rule.checks:
        checks += instead if check.name == name else [check]
    assert tuple(checks) != rule.checks
    return replace(rule, checks=tuple(checks))


def check_of(action: Action, name: str) -> Check:
    [found] = [check for check in RULES[action].checks if check.name == name]
    return found


WRONG: dict[str, tuple[Action, Rule]] = {
    'a check is missing: OPEN with both hands full': (
        Action.OPEN,
        changed(Action.OPEN, 'no_free_hand'),
    ),
    'two checks have changed places: GRAB asks for closeness first': (
        Action.GRAB,
        replace(RULES[Action.GRAB], checks=(
            check_of(Action.GRAB, 'not_close'),
            *(check for check in RULES[Action.GRAB].checks if check.name != 'not_close'),
        )),
    ),
    'a message has a letter too few: SWITCHON': (
        Action.SWITCHON,
        changed(
            Action.SWITCHON,
            'not_off',
            replace(check_of(Action.SWITCHON, 'not_off'), message='{a} is not of'),
        ),
    ),
    'a check that only tells lets the step fail: PLUGOUT of what is on': (
        Action.PLUGOUT,
        changed(
            Action.PLUGOUT,
            'still_on',
            replace(check_of(Action.PLUGOUT, 'still_on'), otherwise=OnFailure.FAIL),
        ),
    ),
    'an effect is missing that no graph shows: DROP does not forget where from': (
        Action.DROP,
        replace(RULES[Action.DROP], effects=RULES[Action.DROP].effects[:-1]),
    ),
    'an effect is another: PUTBACK puts inside': (
        Action.PUTBACK,
        replace(RULES[Action.PUTBACK], effects=(put(Relation.INSIDE), forget_place)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(('action', 'rule'), WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_noticed_and_shown_in_a_short_script(
    action: Action, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(household, 'RULES', {**RULES, action: rule})

    case, run = first_disagreement()
    script = shrink(case, run)
    told = describe(case, run)

    assert len(script) <= LONGEST
    assert any(line.startswith(f'[{action.value}]') for line in script)
    assert all(line in told for line in script)
    assert f'{SEED_VARIABLE}={case.seed}' in told
    monkeypatch.undo()
    assert case.run(script).disagreement is None


def first_disagreement() -> tuple[Case, Run]:
    for seed in SEEDS:
        case = draw_case(seed, Mode.FRESH if seed % 2 else Mode.PERSISTENT)
        run = case.run()
        if run.disagreement:
            return case, run
    pytest.fail(f'not noticed with the seeds {SEEDS}')
