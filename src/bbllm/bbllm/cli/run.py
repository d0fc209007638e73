"""`bbllm run`: one task, on a running stack or in this process."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from bbllm.cli.choices import (
    BodyOption,
    BrainOption,
    JsonOption,
    LlmConfigOption,
    LoopsOption,
    PlannerOption,
    RecordOption,
    ReplayOption,
    SceneOption,
    SeedOption,
    SpeedOption,
    StepsOption,
    TaskArgument,
    TimeoutOption,
    ViewerOption,
)
from bbllm.cli.closing import exit_code, leave, summary_of, tell_files
from bbllm.cli.output import Output
from bbllm.cli.pictures.files import write_pictures
from bbllm.cli.session import Options, run_here
from bbllm.core.episode import Limits


class WorldName(str, Enum):
    """Where a task is carried out."""

    ros = 'ros'
    tabletop = 'tabletop'


def run(
    task: TaskArgument,
    world: Annotated[
        WorldName,
        typer.Option(
            '--world', help='ros: the running stack. tabletop: simulate here, without ROS.'
        ),
    ] = WorldName.ros,
    scene: SceneOption = 'tabletop',
    planner: PlannerOption = 'brain_body',
    feedback_loops: LoopsOption = 3,
    seed: SeedOption = None,
    speed: SpeedOption = None,
    viewer: ViewerOption = False,
    brain: BrainOption = None,
    body: BodyOption = None,
    llm_config: LlmConfigOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
    limit_steps: StepsOption = 200,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """
    Carry out one task, given in plain words.

    Exit code: 0 when the episode finished, 1 when it did not, 2 for input
    that cannot be used, 130 after Ctrl-C (the arm stops and keeps its hold).

    [bold]Examples[/bold]

      bbllm run 'put the red cube on location_B'
      bbllm run 'stack all cubes' --world tabletop --json
      bbllm run 'stack all cubes' --world tabletop --record talk.jsonl
    """
    output = Output(json)
    options = Options(
        scene=scene,
        planner=planner,
        brain=brain,
        body=body,
        k=feedback_loops,
        seed=seed,
        speed=speed,
        viewer=viewer,
        record=record,
        replay=replay,
        llm_config=llm_config,
        limits=Limits(steps=limit_steps, wall_s=timeout),
    )
    ran = run_here(task, options, output)
    pictures = write_pictures(ran.episode, ran.journal)
    tell_files(output, ran, pictures)
    output.result(summary_of(ran, pictures))
    leave(exit_code(ran))
