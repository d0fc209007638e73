"""How much of a prompt's beginning a later one of the same episode and role still has."""

import re
from itertools import takewhile

import pytest

from bbllm.core.types import Outcome, PlanStep, SkillCall, Task
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.worlds.household.visibility import Visibility
from bbllm_planners.fltrnn.planner import FLTRNN
from bbllm_planners.llm_state.prompting import PlanPrompts
from bbllm_planners.prog_prompt.lang_prompt import Example, steps_prompt
from tests.planners.house_player import Studio, bring, call, cells, lines, play, player
from tests.planners.small_house import SmallHouse

TASK = Task('t', 'put a salmon in the fridge')
EMPTY = OpenState()


class Working:
    """LLM-State's prompts, of a robot that goes about in a small house."""

    def __init__(self, visibility: Visibility | None = None):
        self.world = SmallHouse(visibility) if visibility else SmallHouse()
        self.names = ShortNames()
        self.history: list[Outcome] = []
        self.prompts = PlanPrompts(self.names)
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


@pytest.mark.parametrize('role', ['policy', 'attention', 'estimator'])
def test_what_never_changes_comes_before_anything_of_the_episode(role: str) -> None:
    working, other = Working(), Working(Visibility(reach='room'))
    other.do('walk livingroom_3')

    shared = kept(getattr(working, role)(), getattr(other, role)())

    last = 'Task goal: put a salmon in the fridge\n'
    if role == 'estimator':
        last = 'update_state("closet1", "closed | in bathroom1 | not heavy to open")\n'
    assert last in shared
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
    example = Example('wash a mug', (PlanStep(0, 'find the mug'),))
    steps = [PlanStep(0, 'find the salmon'), PlanStep(1, 'grab the salmon')]

    before = steps_prompt(TASK, [example], so_far=steps[:1])
    after = steps_prompt(TASK, [example], so_far=steps)

    assert kept(before, after).endswith('0: find the salmon\n')
    assert after.endswith('1: grab the salmon\n</data>\nNext is line 2.')
