"""Whether a goal was ever reached, FLTRNN's criterion, beside the final state."""

import copy
import dataclasses
from typing import Any

from household_cases import PROGRAM, case_of, played
from made_results import make_result

from bbllm.bench.metrics.metrics import Figures
from bbllm.bench.suites.case import Case

SPOILT = f"{PROGRAM.rstrip()}\n    open('fridge')\n    grab('salmon')\n"


def test_a_goal_that_is_spoilt_again_was_held_once_and_has_failed() -> None:
    kept, _ = played(PROGRAM)
    spoilt, _ = played(SPOILT)

    assert (kept.verdict, kept.held_once) == ('passed', True)
    assert (spoilt.verdict, spoilt.held_once) == ('failed', True)


def test_a_goal_that_was_never_reached_was_not_held() -> None:
    never, _ = played("    # 1: go\n    find('salmon')")
    refused, _ = played("    # 1: take\n    grab('unicorn')\n    open('fridge')")

    assert (never.held_once, refused.held_once) == (False, False)


def test_where_nothing_is_left_to_do_no_step_is_needed() -> None:
    result, _ = played('cannot: it is there', case=there(), planner='llm_state:states=no')

    assert (result.verdict, result.attempted, result.held_once) == ('passed', 0, True)


def test_a_goal_that_is_so_at_the_start_was_held_though_the_first_step_spoils_it() -> None:
    result, _ = played("    # 1: take\n    grab('salmon')", case=there(at_hand=True))

    assert (result.verdict, result.executable, result.held_once) == ('failed', 1, True)


def there(*, at_hand: bool = False) -> Case:
    """Return a case whose salmon is in the fridge; at hand, that is open and who acts is at it."""
    case = case_of('put_salmon_in_the_fridge')
    graph = copy.deepcopy(case.house.graph)
    nodes = {node['class_name']: node for node in graph['nodes']}
    salmon, fridge, who = (nodes[word] for word in ('salmon', 'fridge', 'character'))

    def edge(thing: Any, relation: str, other: Any) -> dict[str, Any]:
        return {'from_id': thing['id'], 'relation_type': relation, 'to_id': other['id']}

    moved = {salmon['id'], who['id']} if at_hand else {salmon['id']}
    graph['edges'] = [item for item in graph['edges'] if item['from_id'] not in moved]
    graph['edges'].append(edge(salmon, 'INSIDE', fridge))
    if at_hand:
        fridge['states'] = [word for word in fridge['states'] if word != 'CLOSED'] + ['OPEN']
        pairs = ((who, salmon), (salmon, who), (who, fridge), (fridge, who))
        graph['edges'] += [edge(one, 'CLOSE', other) for one, other in pairs]
        graph['edges'].append(edge(who, 'INSIDE', nodes['kitchen']))
    return dataclasses.replace(case, scene=case.house.model_copy(update={'graph': graph}))


def test_where_somebody_did_not_look_there_is_no_share() -> None:
    looked, not_looked = make_result(trial=0, held_once=True), make_result(trial=1)

    for results in ([not_looked], [looked, not_looked], [make_result(verdict='lost')]):
        assert (
            Figures.of(results).rate('held_once').value,
            Figures.of(results).rate('held_once').n,
        ) == (None, 0)
