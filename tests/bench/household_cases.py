"""Cases of the suite `household`, and for each task the calls that do it."""

from collections.abc import Callable, Iterator
from typing import Any

from bbllm.core.events import Event
from bbllm.core.naming import instance_name
from bbllm.core.types import Outcome, SkillCall
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.llm.models.factory import Models
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import visibility_of
from bbllm.worlds.household.vocabulary import Relation, State
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_household import play_with
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite

SUITE = load_suite('household')
TASKS = tuple(spec.name for spec in SUITE.tasks)


def case_of(task: str, trial: int = 0, seed: int = 0) -> Case:
    return make_case(SUITE, task, seed=seed, trial=trial)


def world_of(case: Case) -> HouseholdWorld:
    """The world that a case is played in."""
    house = case.house
    return HouseholdWorld(
        house.build(), mode=house.mode, visibility=visibility_of(house.visibility)
    )


class Person:
    """Does a task call by call; the first thing of a class is the one that is meant."""

    def __init__(self, world: HouseholdWorld) -> None:
        self._world = world
        self.outcomes: list[Outcome] = []

    def do(self, skill: str, *items: str) -> None:
        """Make one call, which must succeed."""
        outcome = self._world.execute(SkillCall(skill, items))
        self.outcomes.append(outcome)
        assert outcome.succeeded, f'{outcome.call}: {outcome.message}'

    def the(self, word: str) -> str:
        """Name the first thing of a class."""
        nodes = self._world.graph.nodes
        return instance_name(word, min(n for n in nodes if nodes[n].class_name == word))

    def go(self, word: str) -> str:
        """Walk to a thing."""
        self.do('find', self.the(word))
        return self.the(word)

    def open(self, word: str) -> str:
        """Walk to a thing and open it where it is closed."""
        name = self.go(word)
        if State.CLOSED in self._world.graph.nodes[int(name.rpartition('_')[2])].states:
            self.do('open', name)
        return name

    def take(self, word: str) -> str:
        """Walk to a thing, open what it is shut in, and grab it."""
        name = self.the(word)
        for container in self._around(name):
            if State.CLOSED in self._world.graph.nodes[container].states:
                box = instance_name(self._world.graph.nodes[container].class_name, container)
                self.do('find', box)
                self.do('open', box)
        self.do('find', name)
        self.do('grab', name)
        return name

    def _around(self, name: str) -> Iterator[int]:
        graph = self._world.graph
        for node_id in sorted(graph.targets(int(name.rpartition('_')[2]), Relation.INSIDE)):
            if not graph.nodes[node_id].is_room:
                yield node_id


def _watch_tv(p: Person) -> None:
    p.do('switchon', p.go('tv'))


def _turn_off_light(p: Person) -> None:
    p.do('switchoff', p.go('lightswitch'))


def _brush_teeth(p: Person) -> None:
    brush, paste = p.take('toothbrush'), p.take('toothpaste')
    p.do('pour', paste, brush)


def _throw_away_apple(p: Person) -> None:
    apple = p.take('apple')
    p.do('putin', apple, p.open('garbagecan'))


def _make_toast(p: Person) -> None:
    bread = p.take('breadslice')
    toaster = p.go('toaster')
    p.do('putin', bread, toaster)
    p.do('switchon', toaster)


def _eat_chips(p: Person) -> None:
    chips = p.take('chips')
    p.do('sit', p.go('sofa'))
    p.do('eat', chips)


def _put_salmon(p: Person) -> None:
    salmon = p.take('salmon')
    fridge = p.open('fridge')
    p.do('putin', salmon, fridge)
    p.do('close', fridge)


def _wash_the_plate(p: Person) -> None:
    plate = p.take('plate')
    p.do('putin', plate, p.go('sink'))
    p.do('switchon', p.go('faucet'))
    p.do('switchoff', p.the('faucet'))
    p.do('grab', plate)


def _bring_two(p: Person) -> None:
    pot, cake = p.take('coffeepot'), p.take('cupcake')
    table = p.go('coffeetable')
    p.do('putback', pot, table)
    p.do('putback', cake, table)


def _microwave_salmon(p: Person) -> None:
    salmon = p.take('salmon')
    oven = p.open('microwave')
    p.do('putin', salmon, oven)
    p.do('close', oven)
    p.do('switchon', oven)
    p.do('switchoff', oven)
    p.do('open', oven)
    p.do('grab', salmon)


SCRIPTS: dict[str, Callable[[Person], None]] = {
    'watch_tv': _watch_tv,
    'turn_off_light': _turn_off_light,
    'brush_teeth': _brush_teeth,
    'throw_away_apple': _throw_away_apple,
    'make_toast': _make_toast,
    'eat_chips_on_the_sofa': _eat_chips,
    'put_salmon_in_the_fridge': _put_salmon,
    'wash_the_plate': _wash_the_plate,
    'bring_coffeepot_and_cupcake': _bring_two,
    'microwave_salmon': _microwave_salmon,
}


OFFLINE = ModelConfig(provider='offline')
PLANNER = 'prog_prompt:check=graph,grounding=nearest'
TASK = 'put_salmon_in_the_fridge'
PROGRAM = """
    # 1: take the salmon
    find('salmon')
    grab('salmon')
    # 2: put it into the fridge
    find('fridge')
    assert('fridge' is 'opened')
        else: open('fridge')
    putin('salmon', 'fridge')
    # 3: done
"""


def played(
    *replies: Any, case: Case | None = None, planner: str = PLANNER
) -> tuple[EpisodeResult, list[Event]]:
    case = case or case_of(TASK)
    events: list[Event] = []
    config = RunConfig(planner=planner, llm=LlmConfig(brain=OFFLINE, body=OFFLINE))
    job = EpisodeSpec(key=EpisodeKey(case.task, case.trial, 0), case=case, config=config)
    models = Models(ScriptedModel(replies), ScriptedModel([]), ())
    return play_with(job, models, events.append, Alone()), events
