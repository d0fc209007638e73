"""What episodes on tables and in houses share: their models, run, journal, seed and settings."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from bbllm.api.config import EpisodeConfig
from bbllm.api.setup import EpisodeSetup
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode, Event, ModelCall
from bbllm.core.goals import NO_GOAL
from bbllm.core.journal import line_of
from bbllm.core.prompt_store import PromptEncoder
from bbllm.core.protocols import EventSink, World
from bbllm.core.registry import load_planner
from bbllm.core.tasks import make_task
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import with_client_log
from bbllm.planners.common.experience.memory import Memory
from bbllm_bench.log.choices import PlayChoice
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_models import open_models
from bbllm_bench.runner.experience import shown_in


class Alone:
    """The surroundings of an episode."""

    def stopped(self) -> str:
        """Return why the episode shall end, empty while it may go on."""
        return ''

    def opened(self, world: World) -> None:
        """Look at the world in which the episode is about to begin; here nothing."""

    def advanced(self) -> None:
        """Look at that world while it moves, in the thread that moves it; here nothing."""

    def before(self) -> EventSink:
        """Return the sink for one more episode before the judged one; here it drops all events."""
        return lambda event: None

    def taking_remarks(self, run: EpisodeRun) -> AbstractContextManager[None]:
        """Put on record what clients of models log while the context lasts."""
        return with_client_log(run)


PlayWith = Callable[[EpisodeSpec, Models, EventSink, Alone], EpisodeResult]
"""Plays a job with given models, and passes every event to a sink."""


def play_alone(job: EpisodeSpec, play_with: PlayWith) -> EpisodeRecord:
    """Play an episode alone in its world, with the models that the job names."""
    with open_models(job) as (models, recording):
        around = _OnRecord()
        result = play_with(job, models, around.before(), around)
        journal, *earlier = map(''.join, around.journals)
        return EpisodeRecord(
            result=result,
            journal=journal,
            earlier=tuple(earlier),
            prompts=tuple(map(''.join, around.prompts)),
            recording=recording(),
        )


def begin_episode(
    job: EpisodeSpec,
    models: Models,
    sink: EventSink,
    around: Alone,
    *,
    name: str | None = None,
    **place: object,
) -> tuple[EpisodeRun, Callable[[World], Episode]]:
    """
    Return the episode of a job and what executes it in a world, once; its clock starts now.

    Its name is that of the key where no *name* is given, and *place* are options of the table or
    the house.
    """
    case, config = job.case, job.config
    shared = PlayChoice.model_fields.keys() & EpisodeConfig.model_fields.keys()
    own = {
        'step_limit': case.limits(config.limits).steps or 0,
        'feedback_loops': job.key.k,
        'goal': NO_GOAL,
        'stream': False,
    }
    values = {each: getattr(config, each) for each in shared}
    options = EpisodeConfig.of({**values, **own, **place})
    settings = {
        **options.settings,
        'suite': case.suite,
        'task': case.task,
        'trial': case.trial,
        'seed': case.seed,
    }
    setup = EpisodeSetup(
        planner=config.planner,
        spec=load_planner(config.planner),
        models=replace(models, keep_prompts=config.llm.keep_prompts),
        # Rehearsals are those of the world, which knows the table of the case.
        options=options.model_copy(update={'rehearse': 0}),
        settings=settings,
        memory=Memory.fixed(shown_in(case, config.known)),
        taking_remarks=around.taking_remarks,
    )
    task = make_task(case.instruction, name or job.key.name)
    asking = None
    if case.person is not None:
        task = replace(task, history=case.person.turns)
        asking = replace(options.asking(attended=True), reply=case.answer)
    return setup.begin(task, [sink], k=job.key.k, asking=asking)


class _OnRecord(Alone):
    """The same surroundings, with journals of all episodes."""

    def __init__(self) -> None:
        self.journals: list[list[str]] = []
        """Lines, by episode; the judged one is first."""
        self.prompts: list[list[str]] = []
        """The same of what was sent to models."""

    def before(self) -> EventSink:
        lines, prompts, encoder = list[str](), list[str](), PromptEncoder()
        self.journals.append(lines)
        self.prompts.append(prompts)

        def write(event: Event) -> None:
            if isinstance(event.data, ModelCall):
                prompts.append(encoder.add(event.data.prompt))
            lines.append(line_of(event))

        return write
