"""
The questions: 24 of the Brain, each a short episode of a planner, and 24 of the Body, each a step.

A question is asked under the planner's own prompt, and its reply is read by the planner's own
grammar and carried out in a small world. What is judged is what has become of the world, or the
call, never the text: several replies are right.
"""

import re
from dataclasses import dataclass

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ModelError, ParseError
from bbllm.core.events import Ending, Limits
from bbllm.core.protocols import Pass, World
from bbllm.core.registry import load_planner
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import build_planner
from bbllm.planners.body.mapping import BodyLLM
from bbllm_bench.fitness.small_worlds import SmallTable, small_house

LIMITS = Limits(steps=10, model_calls=12)
"""Of the episode of one question: enough for an answer, too little for wandering about."""
BODY = 'body'
"""Stands for the Body among the names of planners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainQuestion:
    """A task for a planner in a small world."""

    planner: str
    task: str
    wanted: str
    """What is so at the end: a fact without numbers, such as `apple inside fridge`."""
    house: bool = False

    @property
    def text(self) -> str:
        return self.task

    def world(self) -> World:
        return small_house() if self.house else SmallTable()

    def fault(self, models: Models) -> str:
        """Return what is wrong with the answer of a model, '' if nothing is."""
        run = EpisodeRun(
            Task('fitness', self.task),
            planner=self.planner,
            brain=models.brain.name,
            body=models.body.name,
            limits=LIMITS,
        )
        world = self.world()
        episode = run.execute(build_planner(run, load_planner(self.planner), models, k=1), world)
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


def _table(planner: str, task: str, wanted: str) -> BrainQuestion:
    return BrainQuestion(planner=planner, task=task, wanted=wanted)


def _house(planner: str, task: str, wanted: str) -> BrainQuestion:
    return BrainQuestion(planner=planner, task=task, wanted=wanted, house=True)


_RED = ('put the red cube on location_B', 'red_cube on location_B')
_STACK = ('stack the blue cube on the green cube', 'blue_cube on green_cube')
_CYLINDER = ('put the cylinder on location_A', 'grey_cylinder on location_A')
_SALMON = ('put the salmon in the fridge', 'salmon inside fridge')
_TV = ('switch on the tv', 'tv is on')
_APPLE = ('throw the apple into the garbage can', 'apple inside garbagecan')
_BOOK = ('put the book on the table in the kitchen', 'book on table')

BRAIN: tuple[BrainQuestion, ...] = (
    *(_table('brain_body', *what) for what in (_RED, _STACK, _CYLINDER)),
    *(_house('brain_body', *what) for what in (_SALMON, _TV)),
    *(_table('base_llm', *what) for what in (_RED, _STACK)),
    *(_house('base_llm', *what) for what in (_SALMON, _TV)),
    *(_house('prog_prompt', *what) for what in (_SALMON, _TV, _APPLE, _BOOK)),
    *(_house('lang_prompt', *what) for what in (_SALMON, _TV)),
    *(_house('inner_monologue', *what) for what in (_TV, _APPLE)),
    *(_house('planning_only', *what) for what in (_SALMON, _BOOK)),
    *(_house('fltrnn', *what) for what in (_TV, _APPLE)),
    *(_table('llm_pop', *what) for what in (_RED, _STACK)),
    _house('llm_state', *_TV),
)


def _step(step: str, *accepted: str, held: str | None = None) -> BodyQuestion:
    return BodyQuestion(step=step, accepted=frozenset(accepted), held=held)


def _at_home(step: str, *accepted: str, held: str | None = None) -> BodyQuestion:
    return BodyQuestion(step=step, accepted=frozenset(accepted), held=held, house=True)


_ON_TABLE = (
    'putback(apple,coffeetable)',
    'putobjback(apple,coffeetable)',
    'put(apple,coffeetable)',
)

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
