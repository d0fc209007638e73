"""How much of a prompt's beginning a later one of the same episode and role still has."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile

import pytest
from house_player import Studio, bring, call, cells, lines, play, player
from small_house import ROOMS, SmallHouse

from bbllm.core.types import Outcome, PlanStep, SkillCall, Task
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.belief.prompting import StatePrompts
from bbllm.planners.common.observation_text import lists_text
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.fltrnn.planner import FLTRNN
from bbllm.planners.prog_prompt.lang_prompt import Example, LangPrompts
from bbllm.worlds.household.visibility import Visibility

TASK = Task('t', 'put a salmon in the fridge')
END = '==== end of {} ====\n'
EMPTY = OpenState()


class Working:
    """LLM-State's prompts, of a robot that goes about in a small house."""

    def __init__(self, visibility: Visibility | None = None):
        self.world = SmallHouse(visibility) if visibility else SmallHouse()
        self.names = ShortNames()
        self.history: list[Outcome] = []
        self.prompts = StatePrompts(self.names)
        self.names.see(self.world.observe())

    def do(self, *calls: str) -> None:
        for text in calls:
            skill, *args = text.split()
            outcome = self.world.execute(SkillCall(skill, tuple(args)))
            assert outcome.succeeded, outcome.message
            self.history.append(outcome)
            self.names.see(self.world.observe())

    def policy(self, state: OpenState | None = EMPTY, task: Task = TASK) -> str:
        return self.prompts.policy(task, state, self.history, self.world.observe())

    def attention(self, state: OpenState = EMPTY) -> str:
        return self.prompts.attention(TASK, state, self.history, self.world.observe())

    def estimator(self, state: OpenState = EMPTY) -> str:
        return self.prompts.estimator(state, self.history, self.world.observe())

    def objects(self) -> list[str]:
        found = re.search(r'^Object List: \[(.*)\]$', self.policy(), re.MULTILINE)
        assert found is not None
        return [item.split()[0] for item in found[1].split(', ')]


def kept(before: str, after: str) -> str:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return ''.join(first for first, _ in alike)


def test_steps_that_move_nothing_keep_the_policy_s_prompt_up_to_the_end_of_its_history() -> None:
    working = Working()
    working.do('walk fridge_33')
    before = working.policy(OpenState({'fridge_33': ('closed',)}))
    working.do('open fridge_33', 'walk table_30')

    after = working.policy(OpenState({'fridge_33': ('open',)}, 'It opened the fridge.'))

    assert kept(before, after).endswith('==== history actions ====\nmove(fridge1) Success\n')
    assert 'Object List: [' in kept(before, after)
    assert 'open(fridge1) Success' in after and 'fridge1: open' in after


def test_what_was_taken_goes_to_the_end_of_its_list_the_latest_last() -> None:
    working = Working()
    first = working.objects()
    assert first.index('wineglass1') < first.index('mug1') < first.index('apple1')

    working.do('walk mug_12', 'grab mug_12')
    assert working.objects() == [name for name in first if name != 'mug1']
    working.do('walk coffeetable_36', 'putback mug_12 coffeetable_36')
    assert working.objects()[-1] == 'mug1'
    working.do('walk lime_11', 'grab lime_11', 'walk coffeetable_36')
    working.do('putback lime_11 coffeetable_36')

    assert working.objects()[-2:] == ['mug1', 'lime1']
    assert sorted(working.objects()) == sorted(first)


def test_a_thing_that_could_not_be_taken_stays_where_it_is_in_its_list() -> None:
    working = Working()
    first = working.objects()
    outcome = working.world.execute(SkillCall('grab', ('mug_12',)))
    working.history.append(outcome)

    assert not outcome.succeeded
    assert working.objects() == first


def test_a_thing_that_is_moved_again_costs_only_the_end_of_the_list() -> None:
    working = Working()
    working.do('walk wineglass_10', 'grab wineglass_10')
    working.do('walk coffeetable_36', 'putback wineglass_10 coffeetable_36')
    before = working.policy()
    working.do('grab wineglass_10')

    shared = kept(before, working.policy())

    assert 'apple1 ON table1' in shared
    assert 'Surface List: [table1 IN kitchen1, coffeetable1 IN livingroom1]' in shared


def test_what_comes_into_sight_is_added_behind_what_was_seen_before() -> None:
    working = Working(Visibility(reach='room', accumulating=True))
    before = working.objects()
    working.do(f'walk {ROOMS[0]}')

    after = working.objects()

    assert after[: len(before)] == before
    assert {'salmon1', 'lime1'} <= {*after[len(before) :]}


def test_lists_are_in_the_order_of_first_sight_and_not_of_the_scene() -> None:
    scene = SmallHouse().observe()
    names = ShortNames()
    for chosen in ('apple_16', 'lime_11'):
        seen = tuple(item for item in scene.objects if item.name == chosen)
        names.see(replace(scene, objects=seen))
    names.see(scene)

    objects = lists_text(scene, names).partition('Object List: [')[2]

    assert objects.startswith('apple1 ON table1, lime1 ON table1, ')


def test_the_attention_s_prompt_is_kept_up_to_the_things_that_are_added() -> None:
    working = Working()
    before = working.attention(OpenState({'salmon_13': ()}))
    working.do('walk fridge_33')

    after = working.attention(OpenState({'salmon_13': (), 'fridge_33': ()}))

    assert kept(before, after).endswith('==== current state ====\nsalmon1: []\n')
    assert END.format('current observation') in kept(before, after)


def test_the_estimator_s_prompt_is_kept_up_to_the_end_of_the_actions() -> None:
    working = Working()
    state = OpenState({'salmon_13': ()})
    working.do('walk fridge_33')
    before = working.estimator(state)
    working.do('open fridge_33')

    after = working.estimator(state)

    assert kept(before, after).endswith('==== robot actions ====\nmove(fridge1) Success\n')


@pytest.mark.parametrize('role', ['policy', 'attention', 'estimator'])
def test_what_never_changes_comes_before_anything_of_the_episode(role: str) -> None:
    working, other = Working(), Working(Visibility(reach='room'))
    other.do('walk livingroom_3')

    shared = kept(getattr(working, role)(), getattr(other, role)())

    last = {
        'policy': 'Task goal: put a salmon in the fridge\n',
        'attention': 'Task goal: put a salmon in the fridge\n',
        'estimator': 'update_state("closet1", "closed | in bathroom1 | not heavy to open")\n',
    }
    assert last[role] in shared
    # Another task leaves all above it as it is.
    if role == 'policy':
        assert 'reply with one line `cannot: `' in kept(
            working.policy(), working.policy(task=Task('u', 'wash the mug'))
        )


def test_sub_goals_with_the_same_demonstrations_share_their_prompts_up_to_what_is_completed() -> (
    None
):
    goal = 'on_plum_coffeetable: 1, on_bananas_coffeetable: 1'

    def plan(prompt: str) -> str:
        thing = 'bananas' if 'bananas' in prompt.rsplit('# The goal: ')[-1] else 'plum'
        return lines(*bring(thing, 'coffeetable'))

    model = player(', '.join(f'subgoal{{{part}}}' for part in goal.split(', ')), plan)
    play(FLTRNN, model, goal, Studio(), demos='fixed')

    first, second = cells(model)
    assert kept(first, second).endswith('# Completed so far: ')
    assert first.index('\ndef task():') < first.index('# The whole task: ')


def test_the_same_demonstrations_stand_in_the_same_order_whichever_is_nearest() -> None:
    def shown(goal: str) -> list[str]:
        model = player(f'subgoal{{{goal}}}', lambda prompt: lines(call('walk', 'tv')))
        play(FLTRNN, model, goal, Studio())
        return re.findall(r'^# The goal: (.*)$', cells(model)[0], re.MULTILINE)[:-1]

    for goal in ('turnon_tv: 1', 'inside_plum_microwave: 1, closed_microwave: 1', 'sit_sofa: 1'):
        assert shown(goal) == sorted(shown(goal))
        assert len(shown(goal)) == 3


def test_the_next_step_is_asked_for_below_the_steps_so_far() -> None:
    prompts = LangPrompts()
    example = Example('wash a mug', (PlanStep(0, 'find the mug'),))
    steps = [PlanStep(0, 'find the salmon'), PlanStep(1, 'grab the salmon')]

    before = prompts.next_step(TASK, example, steps[:1])
    after = prompts.next_step(TASK, example, steps)

    assert kept(before, after).endswith('0: find the salmon\n')
    assert after.endswith('1: grab the salmon\n</data>\nNext is line 2.')
