"""The grammar of low-level plans, and what its calls are in a world."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import Ending, Episode, Limits
from bbllm.core.protocols import PASS
from bbllm.core.types import Code, SkillCall, Task
from bbllm.planners.common.reply_diagnostics import LostReplyError
from bbllm.planners.domains.languages import HOUSEHOLD, TABLETOP
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.testing import ScriptedModel
from bbllm_planners.hands import MAX_WAITS
from bbllm_planners.llm_state.planner import LLMState
from bbllm_planners.low_level_plan import parse_low_level_plan
from tests.planners.chosen import chosen
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import busy_table

HOUSE = SmallHouse().observe()
ACTIONS = HOUSEHOLD.low_level_actions(HOUSE)


def calls_of(text: str) -> list[str]:
    return [str(call) for call in parse_low_level_plan(text, ACTIONS).calls]


@pytest.mark.parametrize(
    'line',
    [
        '1. placein(mug1, sink1)',
        'placein(mug1,sink1)',
        '12) placein( "mug1" , \'sink1\' );',
        '3: PlaceIn(mug1, sink1) (assuming there is a sink1 in the kitchen)',
        '- **placein(mug1, sink1)** # wash it',
        '1. `placein(mug1, sink1)`',
        '1. placein(mug1, sink1) - it is dirty (very)',
        '1. placein(mug1, sink1): it is dirty',
        '1. placein(mug1, sink1), because it is dirty',
        '1. placein(mug1, sink1) -> the mug is in the sink',
        '1. placein(mug1, sink1) → the mug is in the sink',
        '1. placein(mug1, sink1) – it is dirty',
        '1. placein(mug1, sink1); it is dirty',
        'Step 6: placein(mug1, sink1)',
        '**Step 6.** placein(mug1, sink1)',
        '[placein(mug1, sink1)]',
        '1. [placein(mug1, sink1)].',
        '1. "placein(mug1, sink1)"',
        '1. robot.placein(<mug1>, [sink1])',
        '1. put_in(mug1, sink1)',
        '1. PutIn(mug1, sink1)',
    ],
)
def test_a_call_is_read_however_the_line_is_dressed(line: str) -> None:
    text = f'Sure, here it is:\nLow-level Action Plan:\n{line}\nGood luck!'

    plan = parse_low_level_plan(text, ACTIONS)

    assert plan.calls == (SkillCall('placein', ('mug1', 'sink1')),)
    assert plan.discarded == ()


@pytest.mark.parametrize(
    ('line', 'call'),
    [
        *[(f'{word}(mug1)', 'move(mug1)') for word in ('find', 'walk', 'goto', 'move_to')],
        *[(f'{word}(mug1)', 'pickup(mug1)') for word in ('grab', 'pick_up', 'take')],
        ('put(mug1, table1)', 'put(mug1, table1)'),
        ('putin(mug1, sink1)', 'placein(mug1, sink1)'),
        ('turn_on(tv1)', 'switchon(tv1)'),
        ('switch_off(tv1)', 'switchoff(tv1)'),
        ('sit_on(chair1)', 'sit(chair1)'),
        ('stand_up()', 'standup()'),
    ],
)
def test_other_common_verbs_are_read_as_the_actions_that_are_offered(line: str, call: str) -> None:
    assert calls_of(line) == [call]


@pytest.mark.parametrize(
    ('line', 'code'),
    [
        ('2. teleport(mug1)', Code.UNKNOWN_SKILL),
        ('2. placein(mug1)', Code.BAD_ARGUMENTS),
        ('2. move()', Code.BAD_ARGUMENTS),
        ('2. move(mug1,)', Code.BAD_ARGUMENTS),
        ('2. wait(mug1)', Code.BAD_ARGUMENTS),
        ('2. move(pickup(mug1))', None),
        ('2. move(mug1); pickup(mug1)', None),
        ('2. wash the mug', None),
        (f'2. move({"x" * 500})', None),
    ],
)
def test_a_line_that_is_no_call_ends_the_plan_with_the_check_that_it_fails(
    line: str, code: Code | None
) -> None:
    plan = parse_low_level_plan(f'1. move(mug1)\n{line}\n3. pickup(mug1)', ACTIONS)

    assert [str(call) for call in plan.calls] == ['move(mug1)']
    assert [(item.text, item.code) for item in plan.discarded] == [
        (line[:400], code),
        ('1 more line', None),
    ]
    assert plan.unread == plan.discarded[0]


@pytest.mark.parametrize(
    'text',
    [
        '1. The mug is dirty.\n2. The sink is in the kitchen.\n1. move(mug1)\n2. pickup(mug1)',
        '1. First to the mug: move(mug1)\nLow-level Action Plan:\nmove(mug1)\npickup(mug1)',
        'open(fridge1)?\n## Low-level Action Plan\n0. move(mug1)\n1. pickup(mug1)\n\ndone',
    ],
)
def test_thoughts_before_the_plan_are_no_part_of_it(text: str) -> None:
    assert calls_of(text) == ['move(mug1)', 'pickup(mug1)']


@pytest.mark.parametrize(
    'text',
    [
        'Low-level Action Plan:\n1. move(mug1)\nLow-level Action Plan:\n1. move(sink1)',
        'Plan A\n1. move(mug1)\n2. pickup(mug1)\nPlan B\n1. move(sink1)',
    ],
)
def test_of_two_plans_none_is_carried_out(text: str) -> None:
    with pytest.raises(LostReplyError, match=r'two plans.* such as `1\. move\(object\)`'):
        calls_of(text)


def test_a_plan_whose_numbers_are_all_1_is_one_plan() -> None:
    assert calls_of('1. move(mug1)\n1. pickup(mug1)') == ['move(mug1)', 'pickup(mug1)']


def test_a_plan_ends_where_it_only_repeats_itself() -> None:
    plan = parse_low_level_plan('move(mug1)\n' * 5000, ACTIONS)

    assert [str(call) for call in plan.calls] == ['move(mug1)'] * 2
    assert [line.text for line in plan.discarded] == ['move(mug1)', '4997 more lines']


NO_ACTION = 'reply with the line `done`'


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        *[(text, []) for text in ('done', 'All done!', '**Low-level Action Plan:**')],
        ('Low-level Action Plan:\n1. done()', []),
        ('1. The salmon is in the fridge.\n2. The fridge is closed.\ndone', []),
        (
            '1. move(mug1)\n# done (with it)\n2. pickup(mug1)\n# done',
            ['move(mug1)', 'pickup(mug1)'],
        ),
        ('cannot: there is no mug\n1. The sink is empty.', 'there is no mug'),
        *[(text, NO_ACTION) for text in ('', 'Well, well.')],
        ('Low-level Action Plan:\n1. fly(mug1)', NO_ACTION),
        ('Low-level Action Plan:\n- go to fridge1\n- open fridge1', NO_ACTION),
        ('Low-level Action Plan:\nFirst go to the fridge.', NO_ACTION),
        ('Low-level Action Plan: first go to the fridge.', NO_ACTION),
    ],
)
def test_an_empty_plan_is_done_and_a_reply_without_a_call_is_none(
    text: str, found: list[str] | str
) -> None:
    if isinstance(found, str):
        with pytest.raises(ParseError if found == NO_ACTION else GaveUpError, match=found):
            calls_of(text)
    else:
        assert calls_of(text) == found


@pytest.mark.parametrize(
    ('text', 'remark', 'left_out'),
    [
        ('## Done (step 1 of 2)\n1. move(fridge1)', 'done', '1 more line'),
        ('# Done (so far)\n1. go to the fridge\n2. open it', 'done', '2 more lines'),
        ('Low-level Action Plan:\ndone\nmove(fridge1)\nGood luck!', 'done', '1 more line'),
        ('1. fly(mug1)\ndone', 'done', '1. fly(mug1)'),
        ('# cannot: carry both at once\n1. move fridge1', 'cannot: ', '1. move fridge1'),
    ],
)
def test_an_end_beside_lines_that_resemble_actions_is_asked_about(
    text: str, remark: str, left_out: str
) -> None:
    with pytest.raises(LostReplyError, match=f'else with the line `{remark}` alone') as error:
        parse_low_level_plan(text, ACTIONS)

    assert [item.text for item in error.value.discarded] == [left_out]


@pytest.mark.parametrize(
    ('left_out', 'text'),
    [
        ('2 more lines', 'done\n2. pickup(mug1)\nI am glad.\nmove(mug1)'),
        ('robot: move(mug1)', 'robot: move(mug1)'),
        ('open fridge1', 'open fridge1'),
        ('cannot: go on', 'cannot: go on'),
        ('1. move(mug1) (then) 2. open(mug1)', '1. move(mug1) (then) 2. open(mug1)'),
        ('1. move(mug1) -- open(mug1)', '1. move(mug1) -- open(mug1)'),
    ],
)
def test_each_line_meant_as_an_action_is_reported(left_out: str, text: str) -> None:
    plan = parse_low_level_plan(f'1. move(salmon1)\n{text}\nGood luck!', ACTIONS)

    assert [str(call) for call in plan.calls] == ['move(salmon1)']
    assert [item.text for item in plan.discarded] == [left_out]


def test_calls_become_those_of_the_house_and_back() -> None:
    names = ShortNames()
    names.see(HOUSE)
    call = SkillCall('placeon', ('salmon2', 'coffeetable1'))

    made = HOUSEHOLD.low_level_call(call, HOUSE, names)

    assert made == SkillCall('putback', ('salmon_14', 'coffeetable_36'))
    assert isinstance(made, SkillCall)
    assert HOUSEHOLD.as_planned(made, names) == call
    assert HOUSEHOLD.low_level_call(SkillCall('wait'), HOUSE, names) is PASS
    assert HOUSEHOLD.low_level_call(SkillCall('move', ('unicorn1',)), HOUSE, names) == SkillCall(
        'walk', ('unicorn1',)
    )


@pytest.mark.parametrize(
    ('place', 'skill'), [('coffeetable1', 'putback'), ('fridge1', 'putin'), ('moon1', 'putback')]
)
def test_what_is_put_goes_inside_what_has_no_surface(place: str, skill: str) -> None:
    names = ShortNames()
    names.see(HOUSE)
    (call,) = parse_low_level_plan(f'1. Place(mug1, {place})', ACTIONS).calls

    made = HOUSEHOLD.low_level_call(call, HOUSE, names)

    assert isinstance(made, SkillCall)
    assert made.skill == skill


def test_on_a_table_the_skills_are_the_arm_s_and_a_pose_is_one_argument() -> None:
    scene = busy_table().observe()
    names = ShortNames()
    names.see(scene)

    plan = parse_low_level_plan(
        '1. grasp(red_cube)\n2. place(0.45, -0.10, 0.02)\n3. wait(2)',
        TABLETOP.low_level_actions(scene),
    )

    assert [TABLETOP.low_level_call(call, scene, names) for call in plan.calls] == [
        SkillCall('pick', ('red_cube',)),
        SkillCall('place', ('0.45 -0.10 0.02',)),
        SkillCall('wait', ('2',)),
    ]


@given(st.text(max_size=300) | st.text(alphabet='1. move(mug1),()#\n done', max_size=200))
def test_no_reply_is_more_than_data(text: str) -> None:
    try:
        plan = parse_low_level_plan(text, ACTIONS)
    except (ParseError, GaveUpError):
        return
    known = {skill.name: len(skill.params) for skill in ACTIONS}
    assert all(len(call.args) == known[call.skill] for call in plan.calls)


NOBODY: Any = None


def play(*replies: str, world: SmallHouse | None = None) -> Episode:
    limits = Limits(allow_circles=True)
    run = EpisodeRun(Task('t', 'work'), planner='p', brain='b', body='b', limits=limits)
    planner = LLMState(
        run.model(ScriptedModel([*replies]), 'brain'),
        NOBODY,
        options=chosen('llm_state', states='no'),
    )
    return run.execute(planner, world or SmallHouse())


@pytest.mark.parametrize(('more', 'ending'), [(0, Ending.FINISHED), (1, Ending.GAVE_UP)])
def test_waiting_ends_an_episode_after_its_limit_and_not_at_it(more: int, ending: Ending) -> None:
    n_each = 15  # fewer than a plan may have, with the call that follows them
    plans = ['wait()\n' * n_each + 'move(fridge1)'] * (MAX_WAITS // n_each)

    episode = play(*plans, 'wait()\n' * more + 'move(sink1)', 'done')

    assert MAX_WAITS % n_each == 0
    assert episode.ending is ending, episode.message
