"""How much of the past a model is asked with: what it has room for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pop_runs import LIGHTER, UNKNOWN, WEIGH, run, section

from bbllm.core.errors import GaveUpError
from bbllm.core.prompt_size import most_tokens
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.prompt_history import BUDGET, PromptHistory, ask_shorter, budget_for
from bbllm.planners.llm_pop.fine_tuned_history import FtHistory, FtRound
from bbllm.planners.llm_pop.history import History, Round

Tabletop = Callable[..., Any]
DiaryType = Callable[..., Any]
ROUNDS = 6


def pop_past(tell: Callable[[str], None]) -> History:
    past = History(None, on_short=tell)
    for i in range(ROUNDS):
        past.add(Round(f'Explanation of round {i}, which is as long as words are. ' * 5))
    return past


def ft_past(tell: Callable[[str], None]) -> FtHistory:
    past = FtHistory(None, on_short=tell)
    for i in range(ROUNDS):
        past.add(FtRound(f'Words of round {i}, which are as many as they are. ' * 5))
    return past


@pytest.mark.parametrize('make', [pop_past, ft_past])
def test_a_model_that_tells_its_limit_is_asked_with_as_many_rounds_as_fit(
    make: Callable[[Callable[[str], None]], PromptHistory],
) -> None:
    said: list[str] = []
    past = make(said.append)
    limit = most_tokens('?' + past.write()) * 2 // 3
    model = ScriptedModel(['yes', 'yes'], prompt_limit_tokens=limit)

    for _ in range(2):
        ask_shorter(model, '?{}'.format, past, str)

    sent = model.requests[0].prompt
    assert limit / 2 < most_tokens(sent) <= limit
    assert sent.endswith(past.write(ROUNDS - 1, ROUNDS - 1).splitlines()[-1])
    assert len(said) == 1
    assert f'history of {ROUNDS} rounds is longer than the room that `context_tokens`' in said[0]


def test_a_model_with_room_for_all_is_told_all() -> None:
    past = pop_past(pytest.fail)
    model = ScriptedModel(['yes'], prompt_limit_tokens=10 * most_tokens(past.write()))

    ask_shorter(model, '?{}'.format, past, str)

    assert model.requests[0].prompt == f'?{past.write()}'


def test_the_newest_round_is_sent_even_where_there_is_no_room_for_it() -> None:
    past = pop_past(lambda text: None)
    model = ScriptedModel(['yes'], prompt_limit_tokens=1)

    ask_shorter(model, '?{}'.format, past, str)

    assert model.requests[0].prompt == f'?{past.write(ROUNDS - 1, ROUNDS - 1)}'


def test_the_limit_in_characters_holds_where_a_model_tells_none_or_somebody_set_it() -> None:
    limited = ScriptedModel(prompt_limit_tokens=9000)

    assert budget_for(ScriptedModel()) == BUDGET
    assert budget_for(limited) is None
    assert budget_for(limited, 700) == 700


def test_a_planner_keeps_its_prompts_within_the_limit_of_its_model(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    replies = [UNKNOWN, WEIGH] * 3 + [LIGHTER]
    free = ScriptedModel(replies)
    with pytest.raises(GaveUpError):
        run(free, busy_table(), diary(), k=2)
    limit = max(most_tokens(request.prompt) for request in free.requests) * 3 // 4
    context, model = diary(), ScriptedModel(replies, prompt_limit_tokens=limit)

    with pytest.raises(GaveUpError):
        run(model, busy_table(), context, k=2)

    assert max(most_tokens(request.prompt) for request in model.requests) <= limit
    assert 'Round 0 in short: PICK red_cube done' in section(model.requests[-1], 'History')
    assert len(context.warnings) == 1
