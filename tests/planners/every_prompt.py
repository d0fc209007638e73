"""Every prompt of every planner and body, of a table and of a house."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bbllm.core.events import FeedbackReceived
from bbllm.core.observation import LostObject, lost_facts, observed
from bbllm.core.protocols import StepFailure
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
    Task,
)
from bbllm.planners.body.prompting import execution_prompt
from bbllm.planners.brain_body.prompting import Prompts
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.call_grammar import CallForm
from bbllm.planners.common.prompting import declared
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.skills.catalog import SKILLS
from bbllm_planners.agent.planner import opening_prompt, scene_of
from bbllm_planners.code_policy.grammar import parse_program
from bbllm_planners.code_policy.planner import Broken, program_prompt
from bbllm_planners.fltrnn.prompting import Demonstration, FLTRNNPrompts, ShortTerm
from bbllm_planners.hands import Hands
from bbllm_planners.inner_monologue.planner import Monologue, next_prompt
from bbllm_planners.llm_pop.history import DONE, PromptHistory, Round, TriedAction
from bbllm_planners.llm_pop.planner import (
    evaluator_prompt,
    planner_prompt,
)
from bbllm_planners.llm_state.prompting import PlanPrompts
from bbllm_planners.pddl.goal import parse_reply
from bbllm_planners.pddl.planner import Refused, goal_prompt
from bbllm_planners.prog_prompt.lang_prompt import read_examples, steps_prompt
from bbllm_planners.prog_prompt.program import ProgramCondition, TriedCall
from bbllm_planners.prog_prompt.prompting import ProgPrompts

SAME_PROMPTS = {'llm_pop_no_evaluator': 'llm_pop'}
"""Planners without a prompt of their own, with those whose prompts they use."""
REMARKED = 'leave the green cube where it is'
PROGRAM_REMARKED = 'put the yellow cube on location_D too'
REMARKS = (FeedbackReceived(REMARKED), FeedbackReceived(PROGRAM_REMARKED, 'mcp'))


def with_remarks(task: Task) -> Task:
    return replace(task, added=tuple(remark.sentence for remark in REMARKS))


TASK = Task('t', 'put the red cube on location_B')
HOUSE_TASK = Task('t', 'put the salmon in the fridge')
HAND = HandReading(
    tcp=Pose(position_m=(0.3, 0.0, 0.4), quat_xyzw=(1.0, 0.0, 0.0, 0.0)),
    width_m=0.08,
    force_n=(0.01, -0.02, 0.03),
)


def table(name: str) -> Scene:
    """Return a table with a thing of that name, one that is lost and one that is believed of."""
    lost = LostObject(name=f'{name}_lost', position_m=(0.4, 0.0, 0.0), seen_s=0.0)
    expected = {'size_m': (0.04, 0.04, 0.04), 'color': 'red'}
    kinds = {'table': Kind.FIXTURE, 'red_cube': Kind.CUBE, 'green_cube': Kind.CUBE}
    kinds |= {name: Kind.CUBE, 'location_B': Kind.LOCATION, f'{name}_place': Kind.LOCATION}
    objects = tuple(
        SceneObject(name=each, kind=kind, pose=Pose(position_m=(0.5, 0.1 * i, 0.02)), **expected)  # type: ignore[arg-type]
        for i, (each, kind) in enumerate(kinds.items())
    )
    facts = (
        Fact('red_cube', 'on', name),
        Fact(name, 'is', 'warm', estimated=True),
        *lost_facts([lost], 5.0),
    )
    return Scene(objects, SKILLS, facts, 0.0, HAND)


def outcome(name: str) -> Outcome:
    return Outcome(
        call=SkillCall('pick', (name,)),
        status=Status.FAILED,
        code=Code.GRASP_FAILED,
        message=f'grasp of {name} failed',
        raw=f'driver: {name}\naborted',
        duration_s=1.0,
    )


def prompts(name: str, scene: Scene, house: Scene) -> Iterator[tuple[str, str]]:
    """Yield every prompt with what it is called."""
    for where, seen, task in (('table', scene, TASK), ('house', house, HOUSE_TASK)):
        for what, text in (
            *_plain(name, seen, task),
            *_prog_prompt(name, seen, task),
            *_lang_prompt(name, seen, task),
            *_llm_state(name, seen, task),
            *_inner_monologue(name, seen, task),
            *_agent(name, seen, task),
            *_code_policy(name, seen, task),
        ):
            yield f'{what}, {where}', text
    yield from _llm_pop(name, scene)
    yield from _pddl(name, scene)
    yield from _fltrnn(name, house)


def _plain(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    plan = Plan((PlanStep(0, f'pick {name}'), PlanStep(1, 'place it on location_B')))
    raw = outcome(name).raw
    failure = StepFailure(plan.steps[0], f'grasp of {name} failed', raw, human=REMARKS)
    rendered = Prompts(believed=True)
    yield 'brain_body planning', rendered.planning(task, scene)
    now = with_remarks(task)
    yield 'brain_body feedback', rendered.feedback(now, scene, plan, failure, [failure, failure])
    form = CallForm(language_of(scene).answer_scene(scene), 0)
    yield 'body execution', execution_prompt(plan.steps[0], scene, form)
    in_json = replace(form, in_json=True)
    yield 'body execution in JSON', execution_prompt(plan.steps[0], scene, in_json)
    yield 'base_llm direct', rendered.direct(task, scene)


def _prog_prompt(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    rendered = ProgPrompts()
    yield 'prog_prompt plan', rendered.plan(task, scene)
    tried = [TriedCall(SkillCall('pick', (name,)))]
    yield 'prog_prompt replan', rendered.plan(task, scene, tried)
    yield 'prog_prompt check', rendered.check(ProgramCondition(name, 'in', 'hands'), scene)


def _lang_prompt(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    yield (
        'lang_prompt',
        steps_prompt(
            task, read_examples(scene), objects=scene.names, actions=[*map(declared, scene.skills)]
        ),
    )


def _llm_state(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    names = ShortNames()
    names.see(scene)
    rendered = PlanPrompts(names, messages=True)
    state = OpenState({name: ('heavy',)}, f'It took {name}.')
    history = [outcome(name)]
    yield 'llm_state attention', rendered.attention(task, state, history, scene)
    yield 'llm_state estimator', rendered.estimator(task, state, history, scene)
    yield 'llm_state policy', rendered.policy(with_remarks(task), state, history, scene)


def _inner_monologue(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    names = ShortNames()
    names.see(scene)
    monologue = Monologue(names, scene)
    for _ in range(3):
        monologue.add(f'I take {name}', f'pickup({name})', outcome(name), scene, why=name)
        monologue.take_remarks(REMARKS)
    yield 'inner_monologue', next_prompt(task, monologue, scene)


def _agent(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    hands = hands_at(scene)
    yield 'agent', opening_prompt(task, scene, scene_of(hands), n_left_out=2)


def _code_policy(name: str, scene: Scene, task: Task) -> Iterator[tuple[str, str]]:
    hands = hands_at(scene)
    yield 'code_policy', program_prompt(with_remarks(task), hands)
    hands.history.append(outcome(name))
    broken = Broken(parse_program(f"pick('{name}')", {'pick'}), 1, f'grasp of {name} failed')
    yield 'code_policy repair', program_prompt(with_remarks(task), hands, broken)


def _pddl(name: str, scene: Scene) -> Iterator[tuple[str, str]]:
    hands = hands_at(scene)
    yield 'pddl', goal_prompt(with_remarks(TASK), hands)
    hands.history.append(outcome(name))
    refused = Refused(parse_reply('on(red_cube, location_B)', scene), f'{name} is in the way')
    yield 'pddl another goal', goal_prompt(with_remarks(TASK), hands, refused)


def hands_at(scene: Scene) -> Hands:
    """Return the hands of a planner at the beginning of an episode in a scene."""

    class Seen:
        def observe(self) -> Scene:
            return scene

    nobody: Any = Seen()
    return Hands(nobody, nobody)


def _llm_pop(name: str, scene: Scene) -> Iterator[tuple[str, str]]:
    task = with_remarks(TASK)
    history = PromptHistory()
    tried = (TriedAction(f'PICK {name}', DONE, observed(scene)),)
    history.add(Round(f'weigh {name}', tried))
    history.add(Round(f'weigh {name} again', tried))
    yield 'llm_pop evaluator', evaluator_prompt(task, scene, history.text())
    yield 'llm_pop planner', planner_prompt(task, scene, history.text(), f'{name} is heavy')


def _fltrnn(name: str, house: Scene) -> Iterator[tuple[str, str]]:
    goal = HOUSE_TASK.instruction
    given = {'goal': 'hold a mug', 'things': ['mug(id:1) on table(id:2)'], 'plan': '# done'}
    shown = (Demonstration.model_validate(given),)
    short = ShortTerm(goal, f"[('{name}', 'ON', 'table_30')]", shown, f'grab({name}) failed')
    rendered = FLTRNNPrompts()
    yield 'fltrnn split', rendered.split(goal, house)
    yield 'fltrnn cell', rendered.cell(house, goal, [f'hold one {name}'], short)
    yield 'planning_only', rendered.whole(house, short)
    yield 'planning_reasoning reason', rendered.reason(goal, house)
    yield 'planning_reasoning act', rendered.act(house, short)
