"""`bbllm plan`: what would be done, without doing it."""

import typer

from bbllm.api.config import (
    EpisodeConfig,
    ExperienceChoice,
    GoalChoice,
    MethodChoice,
    RecordChoice,
    SceneChoice,
)
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.cli.support.options import JsonOption, StackOptions, TaskArgument, ros_option
from bbllm.cli.support.session import found_session
from bbllm.cli.support.verb_group import FAILED
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending, Episode
from bbllm.core.journal import summarize
from bbllm.core.progress import Progress, StepState, progress_of
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene, SkillCall
from bbllm.skills.plan_check import check_plan


class PlanConfig(RecordChoice, ExperienceChoice, GoalChoice, MethodChoice, SceneChoice):
    """What a plan depends on."""


def plan(
    *,
    task: TaskArgument,
    ros: bool = ros_option(),
    config: PlanConfig,
    stack: StackOptions,
    json: JsonOption = False,
) -> None:
    """
    Print the plan for a task and the call that each step becomes; nothing moves.

    Above it stands the goal that would be checked at the end.
    Nothing is tried: below it stand the calls that would be refused on a table,
    one after the other, and others may fail. Of planners that observe before
    they go on (llm_pop) it is the first round.

    Examples:
      bbllm plan 'put the red cube on location_B'
      bbllm plan 'build a plus sign with the cubes' --scene plus_sign --json
    """
    output = Output(json)
    if ros and 'scene' in config.model_fields_set:
        raise ConfigError('--scene and --ros exclude each other: a stack has its own scene.')
    if stack.namespace is not None and not ros:
        raise ConfigError('--namespace is that of a running stack: add --ros.')
    options = EpisodeConfig.of(config.given)
    words = make_task(task)
    setup = make_setup(options, options.domain)
    for notice in setup.models.notices:
        output.print(notice, style='yellow')
    seen = _observe(stack if ros else None, options, output)
    episode = setup.plan_only(words, seen)
    if episode.ending is Ending.CANCELLED:
        # Only Ctrl-C cancels a plan; nothing moves, so that there is nothing to wait for.
        raise KeyboardInterrupt
    progress = progress_of(episode)
    states = {row.state for row in progress.rows}
    # A planner may give up only because the scene did not change as it expected.
    first_round = episode.ending is Ending.GAVE_UP and states == {StepState.DONE}
    calls = [event.data for event in episode.events if isinstance(event.data, SkillCall)]
    faults = check_plan(calls, seen)
    if not json:
        _print(episode, progress, first_round, output)
    for fault in faults:
        output.print(f'{fault.call} would be refused: {fault.sentence}', style='yellow')
    steps = [{'index': row.index, 'text': row.text, 'call': row.call} for row in progress.rows]
    summary = summarize(episode)
    kept = ('task', 'planner', 'brain', 'body', 'message', 'conditions', 'model_calls')
    tokens = ('prompt_tokens', 'completion_tokens')
    faulty = [
        {'call': str(fault.call), 'code': fault.code.name, 'message': fault.sentence}
        for fault in faults
    ]
    output.result(
        {'plan': steps, 'faults': faulty, **{key: summary[key] for key in kept + tokens}}
    )
    raise typer.Exit(0 if first_round or episode.ending is Ending.FINISHED else FAILED)


def _observe(stack: StackOptions | None, options: EpisodeConfig, output: Output) -> Scene:
    """Return the scene of a running stack, or that of a world in this process."""
    if stack is not None:
        with found_session('bbllm plan --ros', stack, output) as session:
            return session.world.observe()
    with open_stage(options) as stage:
        return stage.world.observe()


def _print(episode: Episode, progress: Progress, first_round: bool, output: Output) -> None:
    for condition in episode.goal_stated.conditions:
        output.print(f'goal {condition}', style='cyan')
    if episode.goal_stated.why:
        output.print(f'goal not checked: {episode.goal_stated.why}', style='dim')
    width = max((len(row.text) for row in progress.rows), default=0)
    for row in progress.rows:
        call = row.call
        if not call:
            call = 'no call: nothing for the robot' if row.state is StepState.PASSED else 'no call'
        output.print(f'{row.index:>3}  {row.text:<{width}}  {call}')
        if row.note:
            output.print(f'     {row.note}', style='yellow')
    if first_round:
        output.print(
            'That is the first round. What comes after it depends on what the robot observes.',
            'dim',
        )
    elif episode.ending is not Ending.FINISHED:
        output.print(f'{summarize(episode)["ending"]}: {episode.message}', style='bold red')
