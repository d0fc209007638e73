"""Plans that begin while they are written: the same calls as where the reply is waited for."""

import time
from random import Random

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ParseError, WorldError
from bbllm.core.events import Episode, EpisodeEnded, PlanGrown, RepairBegun, StepBegun, StepPassed
from bbllm.core.protocols import ModelRequest, OnText, Pass, Reply, WorldFeatures
from bbllm.core.types import Code, Outcome, PlanStep, Scene, SkillCall, Status, Task
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.common.call_grammar import settled
from tests.drawn import full
from tests.planners.symbolic_table import SymbolicTabletop

N_EPISODES = 500 if full() else 100
CUBES = ('red_cube', 'green_cube', 'blue_cube', 'white_cube')
PLACES = ('location_A', 'location_B', 'location_C')
OBJECTS = {
    name: (0.35 + 0.06 * (i % 4), -0.25 + 0.14 * i) for i, name in enumerate((*CUBES, *PLACES))
}


def random_step(random: Random) -> str:
    cube, place = random.choice(CUBES), random.choice((*PLACES, *CUBES))
    kinds = {
        f'pick {cube}': 4,
        f'place it on {place}': 3,
        f'place {cube} on {place}': 2,
        f'grasp the {cube} with care': 4,
        f'lower it gently onto {place}': 4,
        'take the leftmost one': 2,
        f'set it down beside {cube}': 3,
        'admire it': 1,
        'mutter': 1,
        'shout': 1,
        'open the gripper': 1,
    }
    return random.choices([*kinds], [*kinds.values()])[0]


class RandomBrain:
    """Plans at random, the same with the same seed; passes on each line after a while."""

    name = 'random'
    supports_schema = False

    def __init__(self, seed: int, *, streams: bool):
        self.streams = streams
        self.prompts: list[str] = []
        self._seed = seed
        self._pace = Random()

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        self.prompts.append('\n\n'.join(message.content for message in request.messages))
        asked, cancel = request.declared, request.cancel
        assert asked is not None
        random = Random(f'{self._seed} {len(self.prompts)}')
        start = asked.start
        n_steps = random.randrange(8)
        lines = [f'{start + i}: {random_step(random)}' for i in range(n_steps)]
        lines += random.choice((['Done'], [f'{start + n_steps}: Done'], [], ['cannot: the rest']))
        if asked.kind == 'repair':
            lines = ['Something was wrong.', random.choice(('New plan:', '**New plan:**')), *lines]
        if random.random() < 0.05:
            lines = ['eh?']
        reply = Reply(text='\n'.join(lines), model=self.name)
        if on_text is None:
            return reply
        ends = [at + 1 for at, char in enumerate(reply.text) if char == '\n']
        for end in ends:
            time.sleep(self._pace.choice((0.0, 0.0002, 0.001)))
            if cancel is not None:
                cancel.raise_if_cancelled()
            on_text(reply.text[:end])
        return reply


class RandomBody:
    """Maps steps by their words, and what these leave open by the scene."""

    name, reads_calls = 'random', True

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        match step.text.split():
            case ['grasp', _, name, *_]:
                found = SkillCall('pick', (name,))
            case ['lower' | 'place', *_, name]:
                found = SkillCall('place', (name,))
            case ['take', *_]:
                found = SkillCall('pick', (leftmost(scene),))
            case ['set', *_, name]:
                x, y, _ = next(i.pose.position_m for i in scene.objects if i.name == name)
                found = SkillCall('place', (f'{x:.3f} {y + 0.05:.3f} 0.02',))
            case ['admire', *_]:
                return Pass('no action admires.')
            case _:
                raise ParseError(f'{step.text!r} is no action.')
        return settled(found, scene)


def leftmost(scene: Scene) -> str:
    cubes = [item for item in scene.objects if item.name in CUBES and item.name != scene.held]
    return max(cubes, key=lambda item: item.pose.position_m[1]).name


class RandomWorld(SymbolicTabletop):
    """A table on which calls fail, people speak and cancel, and the world breaks, by the seed."""

    def __init__(self, seed: int):
        super().__init__(OBJECTS)
        self._random = Random(f'world {seed}')
        self.expected: list[list[str]] = []
        self.run: EpisodeRun

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(expect=lambda calls: self.expected.append([*map(str, calls)]))

    def execute(self, call: SkillCall) -> Outcome:
        chance, spoken = self._random.random(), self._random.random()
        time.sleep(Random().choice((0.0, 0.0005, 0.002)))
        if spoken < 0.08:
            while self.run._asking:  # a request under way would be cut short, a waited one not
                time.sleep(0.0002)
            self.run.add_feedback(f'Look out, {len(self.calls)}!')
        if chance < 0.01:
            self.calls.append(str(call))
            raise WorldError('The table has fallen over.')
        if chance < 0.02:
            self.run.cancel('Enough.')
        if chance < 0.12:
            self.calls.append(str(call))
            message = f'It slipped at call {len(self.calls)}.'
            return Outcome(
                call=call, status=Status.FAILED, code=Code.GRASP_FAILED, message=message
            )
        return super().execute(call)


def play(seed: int, *, overlap: bool) -> tuple[Episode, RandomWorld, RandomBrain]:
    random = Random(f'episode {seed}')
    world, brain = RandomWorld(seed), RandomBrain(seed, streams=overlap)
    run = EpisodeRun(Task('e', 'tidy up'), planner='p', brain='b', body='c', stream=overlap)
    world.run = run
    planner = BrainBody(run.model(brain, 'brain'), RandomBody(), k=random.randrange(4))
    return run.execute(planner, world), world, brain


def course(episode: Episode, world: RandomWorld, brain: RandomBrain) -> dict[str, object]:
    data = [event.data for event in episode.events]
    end = data[-1]
    assert isinstance(end, EpisodeEnded)
    return {
        'calls': world.calls,
        'ending': (end.ending, end.message, end.error),
        'steps': [(each.index, each.text) for each in data if isinstance(each, StepBegun)],
        'repairs': [each.cause for each in data if isinstance(each, RepairBegun)],
        'passed': [each.index for each in data if isinstance(each, StepPassed)],
        'prompts': brain.prompts,
    }


@pytest.mark.drawn
def test_calls_prompts_and_endings_are_those_of_the_loop_that_waits() -> None:
    n_early = n_ahead = 0
    for seed in range(N_EPISODES):
        one = play(seed, overlap=False)
        other = play(seed, overlap=True)

        assert course(*other) == course(*one), f'seed {seed}'
        n_early += begun_early(other[0])
        n_ahead += any(other[1].expected)

    assert n_early and n_ahead


def begun_early(episode: Episode) -> bool:
    """Return whether a step began while its plan was still being written."""
    kinds = [type(event.data) for event in episode.events]
    return StepBegun in kinds and PlanGrown in kinds[kinds.index(StepBegun) :]
