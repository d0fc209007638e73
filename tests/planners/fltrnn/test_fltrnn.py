"""FLTRNN: what each part of it prevents, by models that fail in just that way without it."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending
from bbllm.core.protocols import Embeddings
from bbllm.core.types import Task
from bbllm.planners.common.matching import MatchingBody
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import Visibility
from bbllm_planners.fltrnn.baselines import PlanningOnly, PlanningReasoning
from bbllm_planners.fltrnn.planner import FLTRNN, MAX_PLANS, ROUNDS
from bbllm_planners.fltrnn.prompting import SPLIT, WHOLE
from tests.planners.house_player import (
    Studio,
    asked,
    bring,
    call,
    cells,
    discarded,
    id_of,
    lines,
    memory_of,
    play,
    player,
)

MILK = 'on_milk_coffeetable: 1'
ONE_PART = f'subgoal{{{MILK}}}'


def from_fridge(obj: str) -> list[str]:
    return [call('walk', 'fridge'), call('open', 'fridge'), *bring(obj, 'coffeetable')]


FETCHED = from_fridge('milk')
TV = [call('walk', 'tv'), call('switchon', 'tv')]
BOTH = [call('walk', 'plum'), call('grab', 'plum'), call('grab', 'bananas')]
PUT = [call('putback', obj, 'coffeetable') for obj in ('plum', 'bananas')]
SEAT = [call('walk', 'sofa'), call('sit', 'sofa')]
BRUSH = [call('walk', 'toothbrush'), call('grab', 'toothbrush')]
TWO = 'on_plum_coffeetable: 1, on_bananas_coffeetable: 1'
RIGHT_TWO = [*bring('plum', 'coffeetable'), *bring('bananas', 'coffeetable')]
WRONG_TWO = [*BOTH, call('walk', 'coffeetable'), *PUT]
NEAR_MILK = bring('milk', 'coffeetable')
BRUSH_AND_SEAT = 'holds_toothbrush: 1, sit_sofa: 1'


# What the prompt of the ablation lacks, the plans with it and without, and what the graph refuses
# of the second.
@pytest.mark.parametrize(
    ('option', 'ablation', 'goal', 'helps', 'right', 'wrong', 'refused'),
    [
        ('rule_cot=yes', 'rule_cot=no', MILK, '# Rule thought:', FETCHED, NEAR_MILK, 'grab(milk'),
        (
            *('long_memory=yes', 'long_memory=no', TWO, 'Only one thing may be held'),
            *(RIGHT_TWO, WRONG_TWO, 'grab(bananas'),
        ),
        (
            *('demos=similar', 'demos=fixed', BRUSH_AND_SEAT, 'sit_armchair'),
            *([*BRUSH, *SEAT], [*SEAT, *BRUSH], 'walk(toothbrush'),
        ),
    ],
)
def test_each_part_of_a_prompt_keeps_a_model_from_a_fault(
    option: str,
    ablation: str,
    goal: str,
    helps: str,
    right: list[str],
    wrong: list[str],
    refused: str,
) -> None:
    for chosen, ending in ((option, Ending.FINISHED), (ablation, Ending.GAVE_UP)):
        model = player(
            f'subgoal{{{goal}}}', lambda prompt: lines(*(right if helps in prompt else wrong))
        )
        name, _, value = chosen.partition('=')
        episode = play(FLTRNN, model, goal, Studio(), **{name: value})

        assert episode.ending is ending, episode.message
        assert any(refused in text for text in discarded(episode)) is (chosen == ablation)


@pytest.mark.parametrize('verify', ['yes', 'no'])
def test_a_verified_sub_goal_is_planned_anew_when_its_plan_stops_half_way(verify: str) -> None:
    plans = iter([FETCHED[:-2], bring('milk', 'coffeetable')[2:]])
    model = player(ONE_PART, lambda prompt: lines(*next(plans)))
    world = Studio()

    episode = play(FLTRNN, model, MILK, world, verify=verify)

    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('milk', 'on', 'coffeetable') is (verify == 'yes')
    assert len(cells(model)) == (2 if verify == 'yes' else 1)
    if verify == 'yes':
        assert f"('{id_of('milk')}', 'HELD', 'hand')" in memory_of(cells(model)[1])
        assert f'of {MILK} there are 0' in cells(model)[1]


def test_a_call_that_fails_ends_the_plan_and_is_made_up_for_by_the_next() -> None:
    world = Studio()
    plans = iter([[call('walk', 'livingroom'), call('grab', 'remotecontrol')], None])

    def plan(prompt: str) -> str:
        begun = next(plans)
        rest = bring('remotecontrol', 'sofa')
        return lines(*(rest if begun is None else [*begun, *rest[2:]]))

    goal = 'on_remotecontrol_sofa: 1'
    model = player(f'subgoal{{{goal}}}', plan)
    episode = play(FLTRNN, model, goal, world)

    assert 'is not close to' in cells(model)[1].partition('# Tried before')[2]
    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('remotecontrol', 'on', 'sofa')


@pytest.mark.parametrize(
    ('reply', 'reported_once', 'left_out'),
    [
        ('subgoal{turnon_tv: 1}', 'is in the goal, and in no part of it', MILK),
        (f'{ONE_PART}, subgoal{{turnon_tv: 1}}, subgoal{{turnon_radio: 1}}', 'is not in', 'radio'),
        (f'{ONE_PART}, subgoal{{turnon_tv: 3}}', 'more than the goal wants', 'turnon_tv: 3'),
        (f'{ONE_PART}, subgoal{{turnon_tv: 1}}, subgoal{{have a rest}}', 'is no part', 'a rest'),
    ],
)
def test_sub_goals_that_omit_or_invent_are_reported_once_then_counted_and_corrected(
    reply: str, reported_once: str, left_out: str
) -> None:
    def plan(prompt: str) -> str:
        if 'tv' in asked(prompt):
            return lines(*TV)
        return lines(*FETCHED)

    model = player(reply, plan)
    world = Studio()
    episode = play(FLTRNN, model, f'{MILK}, turnon_tv: 1', world)

    asked_to_split = [r for r in model.requests if r.messages[0].content.startswith(SPLIT)]
    assert len(asked_to_split) == 2
    assert reported_once in asked_to_split[1].messages[-1].content
    assert [left_out in text for text in discarded(episode)] == [True]
    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('milk', 'on', 'coffeetable') and world.has('tv', 'is', 'on')


def test_what_a_later_sub_goal_undoes_is_done_once_more() -> None:
    goal = 'closed_fridge: 1, on_milk_coffeetable: 1'

    def plan(prompt: str) -> str:
        if 'closed' in asked(prompt):
            return lines(call('walk', 'fridge'), call('close', 'fridge'))
        return lines(*FETCHED)

    world = Studio()
    model = player(f'subgoal{{closed_fridge: 1}}, {ONE_PART}', plan)
    episode = play(FLTRNN, model, goal, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('fridge', 'is', 'closed') and world.has('milk', 'on', 'coffeetable')
    # Closed at first, so that nothing was asked for it before it was undone.
    assert [asked(prompt) for prompt in cells(model)] == [MILK, 'closed_fridge: 1']


@pytest.mark.parametrize('planner', [FLTRNN, PlanningOnly, PlanningReasoning])
@pytest.mark.parametrize(
    ('goal', 'why'),
    [
        ('on_milk_coffeetable: 9', 'wants 9 of milk, but the house has 1'),
        ('on_unicorn_coffeetable: 1', 'wants 1 of unicorn, but the house has 0'),
        ('on_milk_coffeetable: 1, and be quick', 'The goal cannot be read'),
    ],
)
def test_a_goal_that_no_plan_can_reach_is_given_up_before_any_request(
    planner: type, goal: str, why: str
) -> None:
    episode = play(planner, ScriptedModel([]), goal, Studio())

    assert episode.ending is Ending.GAVE_UP
    assert why in episode.message


def test_absent_objects_of_a_plan_are_reported_once_and_then_omitted() -> None:
    strange = ["walk('milk(id:99999)')", "dance('tv(id:1)')", 'wash the tv', 'wash(tv)']
    model = player(
        'subgoal{turnon_tv: 1}',
        lambda prompt: lines(*strange, *TV),
    )
    world = Studio()

    episode = play(FLTRNN, model, 'turnon_tv: 1', world)

    assert len(cells(model)) == 2
    refusal = model.requests[-1].messages[-1].content
    assert f'The line `wash(tv)`: tv has no id; it is written {id_of("tv")}; a plan is' in refusal
    assert "there is no 'milk_99999'" in refusal
    # What the second reply repeats is counted once.
    assert sorted(discarded(episode)) == ['dance(tv_1)', 'walk(milk_99999)', 'wash(tv)']
    assert episode.ending is Ending.FINISHED
    assert [text.partition('(')[0] for text in world.calls] == ['walk', 'switchon']


def test_a_robot_that_sees_one_room_finds_what_a_plan_leads_it_to() -> None:
    world = Studio(Visibility(reach='rooms_seen'))

    def plan(prompt: str) -> str:
        if '# Not in sight so far: 1 plum\n' in prompt:
            return lines(call('walk', 'kitchen'))
        return lines(*bring('plum', 'coffeetable'))

    model = player('subgoal{on_plum_coffeetable: 1}', plan)
    episode = play(FLTRNN, model, 'on_plum_coffeetable: 1', world)

    assert len(cells(model)) == 2
    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('plum', 'on', 'coffeetable')


ROOMS_SEEN = Visibility(reach='rooms_seen')
LIGHTS = 'switch off all the lights'


def switch_off_what_is_on(prompt: str) -> str:
    """Look into the rooms that are named, then switch off what is memory_of to be on."""
    prompt = prompt.rpartition('\n# Where the key things are')[2]
    on = re.findall(r'(lightswitch\(id:\d+\))[^;]*? (?:is|are) on\b', prompt)
    if rooms := re.search(r'^# Rooms that it has not seen yet: (.*)$', prompt, re.MULTILINE):
        return lines(*(f"walk('{room}')" for room in rooms[1].split(', ')))
    return lines(*(f"walk('{one}')\nswitchoff('{one}')" for one in on[:1]))


def test_a_goal_in_words_is_planned_again_until_the_model_replies_done() -> None:
    world = Studio(ROOMS_SEEN)
    model = player(f'subgoal{{{LIGHTS}}}', switch_off_what_is_on)

    episode = play(FLTRNN, model, LIGHTS, world)

    assert episode.ending is Ending.FINISHED, episode.message
    states = [f.object for f in world.observe().facts if f.subject.startswith('lightswitch')]
    assert states.count('off') == 4 and 'on' not in states
    first, second, *_, last = cells(model)
    assert '# The robot is in: livingroom(id:2)\n' in first
    assert '# Rooms that it has not seen yet: kitchen(id:3), bathroom(id:4)' in first
    assert (
        '# Other rooms: livingroom(id:2), kitchen(id:3), ' in second
        and 'has not seen yet' not in second
    )
    assert "# Carried out for it so far: walk('kitchen(id:3)'); walk('bathroom(id:4)')" in second
    assert last.count("switchoff('lightswitch(id:") >= 4
    assert len(cells(model)) == 1 + 4 + 1  # it looks, switches four off, and says that it is done


def test_a_goal_in_words_whose_plans_never_end_is_not_reached() -> None:
    model = player('subgoal{rinse a mug}', lambda prompt: lines(call('walk', 'sink')))

    episode = play(FLTRNN, model, 'rinse a mug', Studio())

    assert episode.ending is Ending.GAVE_UP
    assert f'{MAX_PLANS} plans in a row had no `# done` alone after them' in episode.message
    assert len(cells(model)) == ROUNDS * MAX_PLANS


def test_what_cannot_be_done_leaves_the_other_sub_goals_and_is_named_at_the_end() -> None:
    def plan(prompt: str) -> str:
        return 'cannot: there is no wine' if 'wine' in asked(prompt) else lines(*TV)

    world = Studio()
    model = player('subgoal{drink some wine}, subgoal{turnon_tv: 1}', plan)
    episode = play(FLTRNN, model, 'drink wine in front of the tv', world)

    assert world.has('tv', 'is', 'on')
    assert episode.ending is Ending.GAVE_UP
    assert episode.message.endswith(
        'drink some wine (the model replied that it cannot be done: there is no wine). '
        'Reached: turnon_tv: 1.'
    )
    assert '# Tried before, and not reached: the model replied' in cells(model)[2]


class Counting:
    """An embedder that is near to one demonstration, whatever is asked for."""

    name = 'counting'

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, cancel: Any = None) -> Embeddings:
        self.texts += texts
        near = ('turnon_tv: 1', 'rinse a glass')
        vectors = tuple((1.0, 0.0) if text in near else (0.0, 1.0) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def test_a_body_that_matches_by_embedding_lends_its_embedder_to_the_choice() -> None:
    embedder = Counting()
    model = player('subgoal{turnon_tv: 1}', lambda prompt: lines(*TV))
    run = EpisodeRun(Task('t', 'turnon_tv: 1'), planner='p', brain='b', body='b')

    run.execute(FLTRNN(model, MatchingBody(embedder)), Studio())

    shown = re.findall(r'^# The goal: (.*)$', cells(model)[0], re.MULTILINE)
    assert 'rinse a glass' in shown[:3]
    assert embedder.texts.count('turnon_tv: 1') == 1


@pytest.mark.parametrize('reply', ['# done', 'robot.grab(mug)\n# done'])
def test_a_goal_in_words_is_never_done_by_nothing(reply: str) -> None:
    model = player('subgoal{rinse a mug}', lambda prompt: reply)
    episode = play(FLTRNN, model, 'rinse a mug', Studio())

    assert episode.ending is Ending.GAVE_UP
    assert 'Not reached, although tried 3 times: rinse a mug' in episode.message
    assert set(discarded(episode)) == {reply.partition('\n')[0]}
    first = {prompt.partition('# Tried before')[2].partition('\n')[0] for prompt in cells(model)}
    assert len(first) == 2  # the next plan is asked for with the reason


@pytest.mark.parametrize(
    ('options', 'states_form'),
    [({}, True), ({'long_memory': 'no'}, False), ({'rule_cot': 'no'}, False)],
)
def test_rules_that_are_left_out_do_not_come_back_with_a_refusal(
    options: dict[str, str], states_form: bool
) -> None:
    model = player('subgoal{on_plum_coffeetable: 1}', lambda prompt: lines(*BOTH))

    play(FLTRNN, model, 'on_plum_coffeetable: 1', Studio(), **options)

    retries = [r.messages[-1].content for r in model.requests if len(r.messages) > 2]
    assert retries and all('was refused' in text for text in retries)
    later = [prompt.partition('# Tried before')[2] for prompt in cells(model)]
    for text in [*retries, *later]:
        assert ('only one thing' in text) <= states_form and (
            'keeps all rules' in text
        ) <= states_form
    assert any('only one thing' in text for text in retries) is states_form


def test_a_sub_goal_that_is_never_reached_is_planned_three_times_and_then_given_up() -> None:
    model = player(ONE_PART, lambda prompt: lines(FETCHED[0]))

    episode = play(FLTRNN, model, MILK, Studio())

    assert len(cells(model)) == ROUNDS == 3
    assert episode.ending is Ending.GAVE_UP
    assert f'tried 3 times: {MILK} (of {MILK} there are 0; the plan ended without' in (
        episode.message
    )


@pytest.mark.parametrize('obj', ['plum', 'milk'])
def test_planning_only_asks_once_and_carries_all_of_it_out_also_where_a_call_fails(
    obj: str,
) -> None:
    world = Studio()
    model = ScriptedModel(['\n'.join([*bring(obj, 'coffeetable'), *TV])])

    episode = play(PlanningOnly, model, f'on_{obj}_coffeetable: 1, turnon_tv: 1', world)

    assert world.has(obj, 'on', 'coffeetable') is (obj == 'plum')
    assert world.has('tv', 'is', 'on') and len(world.calls) == 6
    if obj == 'milk':
        assert 'inside other closed thing' in episode.message
    (request,) = model.requests
    assert request.prompt.startswith(WHOLE)
    assert request.prompt.count('# The goal: ') == 4  # three demonstrations
    assert 'Only one thing may be held' in request.prompt
    assert 'Rule thought' not in request.prompt and 'Long-term' not in request.prompt
