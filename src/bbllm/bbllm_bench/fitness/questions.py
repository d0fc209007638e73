"""
The questions: 24 of the Brain, each a short episode of a planner, and 24 of the Body, each a step.

A question is asked under the planner's own prompt, and its reply is read by the planner's own
grammar and carried out in a small world. What is judged is what has become of the world, or the
call, never the text: several replies are right.
"""

import re
from dataclasses import dataclass

from bbllm.api.config import EpisodeConfig
from bbllm.api.setup import EpisodeSetup
from bbllm.core.errors import ModelError, ParseError
from bbllm.core.events import Ending
from bbllm.core.goals import NO_GOAL
from bbllm.core.naming import class_of
from bbllm.core.protocols import Pass, World
from bbllm.core.registry import load_planner
from bbllm.core.types import PlanStep, Pose, Scene, Skill, SkillCall, Task
from bbllm.llm.models.factory import Models
from bbllm.planners.body.mapping import BodyLLM
from bbllm.scene.relations import build_scene
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import MAX_WIDTH_M, Hand
from bbllm.skills.plan_check import ImaginedTable
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.houses import build
from bbllm.worlds.household.world import HouseholdWorld

CONFIG = EpisodeConfig(step_limit=10, model_call_limit=12, goal=NO_GOAL, stream=False)
"""Of the episode of one question: enough for an answer, too little for wandering about."""
BODY = 'body'
"""Stands for the Body among the names of planners."""
TABLE = SceneFile(
    objects=(
        ObjectSpec(name='red_cube', kind='cube', color='red', xy=(0.40, 0.12)),
        ObjectSpec(name='blue_cube', kind='cube', color='blue', xy=(0.48, 0.20)),
        ObjectSpec(name='green_cube', kind='cube', color='green', xy=(0.56, 0.04)),
        ObjectSpec(name='grey_cylinder', kind='cylinder', color='grey', xy=(0.60, 0.16)),
    ),
    locations=(
        LocationSpec(name='location_A', xy=(0.54, -0.18)),
        LocationSpec(name='location_B', xy=(0.44, -0.12)),
    ),
)
HOUSE = build(
    {
        'start': 'livingroom',
        'rooms': {
            'kitchen': [{'table': {'on': ['salmon', 'apple', 'mug']}}, 'fridge', 'garbagecan'],
            'livingroom': ['tv', {'coffeetable': {'on': ['book']}}],
        },
        'classes': {'table': 'Furniture, surfaces'},
    },
    'the house of the questions',
)
_AT_REST = Hand(
    tcp=Pose(position_m=(0.3, 0.0, 0.5), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=MAX_WIDTH_M
)


class SmallTable(ImaginedTable):
    """A World of cubes and places without a simulator; *held* is in the hand."""

    skills: tuple[Skill, ...] = SKILLS

    def __init__(self, held: str | None = None) -> None:
        scene = build_scene(
            TABLE.shown,
            _AT_REST,
            skills=SKILLS,
            stamp_s=0.0,
            now_s=0.0,
            reach=lambda item: True,
        )
        super().__init__(scene)
        if held is not None:
            self.execute(SkillCall('pick', (held,)))

    def stop(self) -> None:
        pass


def small_house(held: str | None = None) -> HouseholdWorld:
    """
    Return a kitchen and a living room under VirtualHome's rules; all of it is visible.

    The character has an object of the class *held* in its hand.
    """
    house = HouseholdWorld(HOUSE, mode=Mode.FRESH)
    for name in house.observe().names:
        if class_of(name) == held:
            house.execute(SkillCall('find', (name,)))
            house.execute(SkillCall('grab', (name,)))
    return house


@dataclass(frozen=True, slots=True)
class BrainQuestion:
    """A task for a planner in a small world."""

    planner: str
    task: str
    wanted: str
    """What is so at the end: a fact without numbers, such as `apple inside fridge`."""
    house: bool

    @property
    def text(self) -> str:
        return self.task

    def world(self) -> World:
        return small_house() if self.house else SmallTable()

    def fault(self, models: Models) -> str:
        """Return what is wrong with the answer of a model, '' if nothing is."""
        setup = EpisodeSetup(
            planner=self.planner,
            spec=load_planner(self.planner),
            models=models,
            options=CONFIG,
            settings={},
        )
        world = self.world()
        _, execute = setup.begin(Task('fitness', self.task), k=1)
        episode = execute(world)
        if self.wanted in facts_of(world.observe()):
            return ''
        # A budget that is used up says less than the calls that used it up.
        spent = episode.ending in (Ending.OUT_OF_BUDGET, Ending.FINISHED)
        calls = ', '.join(str(e.data) for e in episode.events if isinstance(e.data, SkillCall))
        why = '' if spent or not episode.message else f' {episode.message}'
        return f'not so at the end: {self.wanted}; calls: {calls or "none"}.{why}'


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyQuestion:
    """A step for the Body in a small world."""

    step: str
    accepted: frozenset[str]
    """Calls without numbers, such as `walk(fridge)`, or `pass`."""
    held: str | None = None
    house: bool = False

    @property
    def planner(self) -> str:
        return BODY

    @property
    def text(self) -> str:
        return f'{self.step} ({self.held} is held)' if self.held else self.step

    def world(self) -> World:
        return small_house(self.held) if self.house else SmallTable(self.held)

    def fault(self, models: Models) -> str:
        """Return what is wrong with the answer of a model, '' if nothing is."""
        try:
            call = BodyLLM(models.body).map(PlanStep(0, self.step), self.world().observe())
        except (ParseError, ModelError) as error:
            return str(error)
        answer = 'pass' if isinstance(call, Pass) else without_ids(str(call))
        return '' if answer in self.accepted else f'{answer}, not {" or ".join(self.accepted)}'


FitnessQuestion = BrainQuestion | BodyQuestion


def facts_of(scene: Scene) -> set[str]:
    """Return the facts of a scene as text, without the numbers of objects."""
    return {without_ids(f'{fact.subject} {fact.predicate} {fact.object}') for fact in scene.facts}


def without_ids(text: str) -> str:
    return re.sub(r'_\d+\b', '', text).replace(', ', ',').removesuffix('()')


_RED = ('put the red cube on location_B', 'red_cube on location_B', False)
_STACK = ('stack the blue cube on the green cube', 'blue_cube on green_cube', False)
_CYLINDER = ('put the cylinder on location_A', 'grey_cylinder on location_A', False)
_SALMON = ('put the salmon in the fridge', 'salmon inside fridge', True)
_TV = ('switch on the tv', 'tv is on', True)
_APPLE = ('throw the apple into the garbage can', 'apple inside garbagecan', True)
_BOOK = ('put the book on the table in the kitchen', 'book on table', True)

BRAIN: tuple[BrainQuestion, ...] = tuple(
    BrainQuestion(planner, *task)
    for planner, tasks in {
        'brain_body': (_RED, _STACK, _CYLINDER, _SALMON, _TV),
        'base_llm': (_RED, _STACK, _SALMON, _TV),
        'prog_prompt': (_SALMON, _TV, _APPLE, _BOOK),
        'lang_prompt': (_SALMON, _TV),
        'inner_monologue': (_TV, _APPLE),
        'planning_only': (_SALMON, _BOOK),
        'fltrnn': (_TV, _APPLE),
        'llm_pop': (_RED, _STACK),
        'llm_state': (_TV,),
    }.items()
    for task in tasks
)


def _step(step: str, *accepted: str, held: str | None = None) -> BodyQuestion:
    return BodyQuestion(step=step, accepted=frozenset(accepted), held=held)


def _at_home(step: str, *accepted: str, held: str | None = None) -> BodyQuestion:
    return BodyQuestion(step=step, accepted=frozenset(accepted), held=held, house=True)


BODY_QUESTIONS: tuple[BodyQuestion, ...] = (
    _step('pick up the red cube', 'pick(red_cube)'),
    _step('grasp the cube that is blue', 'pick(blue_cube)'),
    _step('take the cylinder', 'pick(grey_cylinder)'),
    _step('lift the green block', 'pick(green_cube)'),
    _step('place it on location_B', 'place(location_B)', held='red_cube'),
    _step('set the red cube down on top of the blue cube', 'place(blue_cube)', held='red_cube'),
    _step('put the cylinder at location A', 'place(location_A)', held='grey_cylinder'),
    _step('put what you hold onto the green cube', 'place(green_cube)', held='blue_cube'),
    _step('open the gripper', 'open_gripper'),
    _step('close the fingers', 'close_gripper'),
    _step('go back to the base', 'return_to_base'),
    _step('wait for 2 seconds', 'wait(2)'),
    _step('move the hand above the green cube', 'reach(green_cube)'),
    _step('sing a song', 'pass'),
    _step('think about whether the tower is straight', 'pass'),
    _at_home('walk to the fridge', 'walk(fridge)', 'find(fridge)', 'run(fridge)'),
    _at_home('open the fridge door', 'open(fridge)'),
    _at_home('take the salmon', 'grab(salmon)'),
    _at_home('put the salmon into the fridge', 'putin(salmon,fridge)', held='salmon'),
    _at_home('put the apple on the coffee table', 'putback(apple,coffeetable)', held='apple'),
    _at_home('turn on the tv', 'switchon(tv)'),
    _at_home('close the fridge', 'close(fridge)'),
    _at_home('look for the mug', 'find(mug)', 'walk(mug)', 'lookat(mug)'),
    _at_home('tell a joke', 'pass'),
)
QUESTIONS: tuple[FitnessQuestion, ...] = (*BRAIN, *BODY_QUESTIONS)
