"""FT-CoT and FT-Vanilla: what is asked, in which order, and what is done for it."""

import re
from typing import Any

import pytest

from bbllm.core.errors import GaveUpError
from bbllm.core.protocols import ModelRequest
from bbllm.core.text import without_delimiters
from bbllm.core.types import Code, Task
from bbllm.testing import ScriptedModel
from bbllm_planners.llm_pop.fine_tuned import (
    FORMS,
    HISTORY,
    FTCoT,
    FtRound,
    Question,
    ft_prompt,
    round_words,
)
from bbllm_planners.llm_pop.fine_tuned_grammar import (
    FtAction,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm_planners.llm_pop.grammar import Verb
from bbllm_planners.llm_pop.history import PromptHistory
from tests.planners.every_prompt import table
from tests.planners.pop_runs import BOTH, NoBody
from tests.planners.symbolic_table import Diary, busy_table

TASK = Task('t', 'Put the lighter cube on location_A.')
SCENE = table('')
UNKNOWN = 'EXPLAIN: No. The weights are not known.\nACTION: <nooutput>'
KNOWN = 'EXPLAIN: Yes. red_cube is lighter.\nACTION: <nooutput>'
WEIGH = (
    "EXPLAIN: Lift both.\nACTION: [pick('red_cube'), "
    "place('red_cube', [0.35, 0.12, 0.02], [1, 0, 0, 0]), pick('blue_cube'), "
    "place('blue_cube', [0.51, 0.12, 0.02], [1, 0, 0, 0])]"
)
ACT = (
    "EXPLAIN: The red one goes there.\nACTION: [pick('red_cube'), "
    "place('red_cube', [0.54, -0.18, 0.02], [1, 0, 0, 0]), reset()]"
)
WEIGHED = [*BOTH, 'place(0.51 0.12 0.02 1 0 0 0)']
ACTED = ['pick(red_cube)', 'place(0.54 -0.18 0.02 1 0 0 0)', 'return_to_base()']


def cot(model: Any, world: Any, between: dict[int, str] | None = None, **options: int) -> Diary:
    """Play FT-CoT on a world."""
    context = Diary(between=between)
    FTCoT(model, NoBody(), **options).run(TASK, world, context)
    return context


def questions(model: ScriptedModel) -> list[Question]:
    prompts = [request.prompt for request in model.requests]
    return [Question(text.partition('Question: ')[2].partition('\n')[0]) for text in prompts]


def past(request: ModelRequest) -> str:
    return without_delimiters(request.messages[0].content).partition('\nPast:\n')[2]


def test_it_finds_out_and_asks_again_before_it_acts() -> None:
    world, model = busy_table(), ScriptedModel([UNKNOWN, WEIGH, KNOWN, ACT])

    context = cot(model, world)

    q = Question
    assert questions(model) == [q.ENOUGH, q.GATHER, q.ENOUGH, q.SOLVE]
    assert world.calls == WEIGHED + ACTED
    assert world.on('red_cube') == 'location_A'
    assert context.repairs == ['Yes. red_cube is lighter.']
    assert context.lines[0] == 'plan from 0'
    assert context.lines[5:7] == ['repair 4', 'plan from 4']
    assert context.failed == []


def test_what_fails_ends_the_list_and_its_reason_is_in_the_past() -> None:
    slip = ('pick(red_cube)', Code.GRASP_FAILED, 'The fingers closed on nothing.')
    world, model = busy_table(faults=[slip]), ScriptedModel([KNOWN, ACT, KNOWN, ACT])

    context = cot(model, world)

    last = past(model.requests[2]).splitlines()[-1]
    words = 'The red one goes there. Failed: The fingers closed on nothing.'
    start = f"Round 2: [{words}] [pick('red_cube')] ["
    assert last.startswith(start)
    assert ';' not in last.removeprefix(start)  # one observation
    assert world.calls == ['pick(red_cube)', *ACTED]
    assert context.failed == []


def test_when_the_loops_are_used_up_it_gives_up_with_what_failed() -> None:
    world = busy_table(unreachable=['red_cube'])

    with pytest.raises(GaveUpError, match=r'the 1 feedback loops .* red_cube is out of the work'):
        cot(ScriptedModel([KNOWN, ACT] * 3), world, k=1)

    assert world.calls == ['pick(red_cube)'] * 2


@pytest.mark.parametrize('k', [0, 1, 2])
def test_finding_out_is_bounded_by_the_loops_and_leaves_one_to_act(k: int) -> None:
    world, model = busy_table(), ScriptedModel([UNKNOWN, WEIGH] * 5)

    with pytest.raises(GaveUpError, match=r'No\. The weights are not known\.'):
        cot(model, world, k=k)

    assert questions(model).count(Question.GATHER) == k


def test_to_place_another_block_than_the_one_in_the_hand_moves_nothing() -> None:
    world = busy_table()
    wrong = ACT.replace("place('red_cube'", "place('blue_cube'")

    with pytest.raises(GaveUpError, match='blue_cube cannot be placed, because red_cube is in'):
        cot(ScriptedModel([KNOWN, wrong, KNOWN, ACT]), world, k=0)

    assert world.calls == ['pick(red_cube)']


def test_a_remark_in_between_is_part_of_the_task_and_the_rest_is_left() -> None:
    world = busy_table()
    model = ScriptedModel([UNKNOWN, WEIGH, KNOWN, ACT])

    # Before the third action of the first list.
    cot(model, world, between={1: 'the red one is lighter [really]'})

    assert re.findall(r'Round \d+: \[(.*?)\]', past(model.requests[2]))[1:] == ['Lift both.']
    for request in model.requests[2:]:
        assert request.prompt.count('The person added: the red one is lighter [really]') == 1
    assert world.calls == WEIGHED[:2] + ACTED


@pytest.mark.parametrize('question', Question)
def test_the_prompt_states_the_reply_and_the_actions_that_its_grammar_takes(
    question: Question,
) -> None:
    expected = ft_prompt(question, TASK, SCENE, 'None').partition('\nCurrent: ')[0]
    tuned = ft_prompt(question, TASK, SCENE, 'None', form=False).partition('\nCurrent: ')[0]

    assert tuned.endswith(f'Question: {question.value}')
    assert expected.endswith(f'Question: {question.value}\n{FORMS[question]}')
    for verb in Verb:
        assert f'\n{verb.name.lower()}(' in expected or f' {verb.name.lower()}(' in expected
    body = 'EXPLAIN: No. It is not known.\nACTION: '
    readers = {Question.ENOUGH: parse_enough, Question.GATHER: parse_some}
    read = readers.get(question, parse_reply)
    example = '<nooutput>' if question is Question.ENOUGH else '[reset(), wait()]'
    assert f'{example}' in FORMS[question]
    assert [str(a) for a in read(body + example).actions] == re.findall(r'\w+\(\)', example)


def test_a_round_has_brackets_around_its_parts_alone() -> None:
    history = PromptHistory(HISTORY, 40_000)
    history.add(FtRound('Lift [both].', (FtAction(Verb.PICK, 'a'),), ((0.45, -0.0),)))

    assert history.text() == "Round 1: [Lift (both).] [pick('a')] [0.450, 0.000]"


def test_only_a_real_failure_is_marked_as_failed_in_a_round() -> None:
    remark = round_words('Failed: to think. In short: pick a force z -9.00', 'It\nslid.')

    assert remark == 'failed: to think. in short: pick a force z -9.00 Failed: It slid.'
    assert round_words('All well.') == 'All well.'
