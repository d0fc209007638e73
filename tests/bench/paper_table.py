"""Episodes of real planners on a table of paper, scored; no physics."""

from collections.abc import Callable, Mapping

from paper_world import PaperWorld

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.scorers.scoring import score
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.goals import Resting
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import BbllmError, LostNodeError, ParseError
from bbllm.core.events import Limits
from bbllm.core.protocols import PASS, EpisodeContext, Pass, Planner, Reply, World
from bbllm.core.types import (
    Outcome,
    PlanStep,
    Scene,
    SkillCall,
    Task,
)
from bbllm.llm.config import LlmConfig
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.sim.scene_file import make_scene

SCENE = make_scene(
    {
        'name': 'two_cubes',
        'description': 'Two cubes and three places, one of them too far away.',
        'objects': [
            {'name': 'red_cube', 'kind': 'cube', 'color': 'red', 'xy': [0.5, 0.0]},
            {'name': 'blue_cube', 'kind': 'cube', 'color': 'blue', 'xy': [0.5, 0.2]},
        ],
        'locations': [
            {'name': 'location_A', 'xy': [0.4, -0.2]},
            {'name': 'location_B', 'xy': [0.5, -0.2]},
            {'name': 'location_C', 'xy': [0.9, -0.2]},
        ],
    }
)
ON = {'red_cube': 'location_A', 'blue_cube': 'location_B'}
BOTH = (
    '0: pick(red_cube)\n1: place(location_A)\n2: pick(blue_cube)\n3: place(location_B)\n4: admire'
)


def job_of(
    on: Mapping[str, str] = ON, prices: Mapping[str, tuple[float, float]] | None = None
) -> EpisodeSpec:
    case = Case(
        suite='own',
        task='tidy',
        trial=1,
        seed=0,
        instruction='put the cubes where they belong',
        scene=SCENE,
        goal=Resting(kind='resting', on=dict(on), near_m=0.02, level_m=0.01, tilt_deg=18),
        difficulty='easy',
        least_loops=1,
        out_of_reach=('location_C',),
    )
    config = RunConfig(planner='brain_body', llm=LlmConfig(), prices=prices or {})
    return EpisodeSpec(key=EpisodeKey('tidy', 1, 2), case=case, config=config)


class Paper(PaperWorld):
    """Two cubes on paper, with a call at which all is lost."""

    def __init__(self) -> None:
        super().__init__(SCENE)

    def execute(self, call: SkillCall) -> Outcome:
        if call.skill == 'vanish':
            raise LostNodeError('The simulator has gone.')
        return super().execute(call)


class Literal:
    """Takes steps as calls by their word; has no call for `mumble`, and passes on `admire`."""

    name = 'literal'

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        skill, _, rest = step.text.partition('(')
        if skill == 'admire':
            return PASS
        if skill == 'mumble':
            raise ParseError('Nobody knows what that is.')
        return SkillCall(skill, (rest.strip(')'),))


class Raises:
    """A planner that ends as it is told."""

    def __init__(self, error: BbllmError):
        self._error = error

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        raise self._error


def play(
    *replies: str | Reply | Exception,
    k: int = 2,
    limits: Limits | None = None,
    job: EpisodeSpec | None = None,
    planner: Callable[[EpisodeRun], Planner] | None = None,
) -> EpisodeResult:
    """Let BrainBody run on paper, with a Brain that says these replies, and score it."""
    job = job or job_of()
    world, brain = Paper(), ScriptedModel(replies, name='gpt-x')
    run = EpisodeRun(
        Task('t', job.case.instruction),
        planner='brain_body',
        brain='gpt-x',
        body='literal',
        limits=limits,
    )
    before = world.observe()
    method = planner(run) if planner else BrainBody(run.model(brain, 'brain'), Literal(), k=k)
    episode = run.execute(method, world)
    after = world.observe()
    return score(job, episode, before=before, after=after, robot_s=20.0, unsafe=0)
