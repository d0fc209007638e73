"""`bbllm run`: one task, on a running stack or in this process."""

from __future__ import annotations

from typing import Annotated

import typer

from bbllm.cli.support.choices import (
    BodyOption,
    BrainOption,
    DomainOption,
    JsonOption,
    LlmConfigOption,
    LoopsOption,
    MappingOption,
    NamespaceOption,
    PlannerOption,
    RecordOption,
    ReplayOption,
    SafetyOption,
    SceneOption,
    SeedOption,
    SpeedOption,
    StepsOption,
    TaskArgument,
    TimeoutOption,
    ViewerOption,
    WorldName,
    YesOption,
)
from bbllm.cli.support.exit import draw, exit_code, leave, summary_of, tell_files
from bbllm.cli.support.house_choices import HouseOption, ModeOption, VisibilityOption
from bbllm.cli.support.ros import choose_domain
from bbllm.cli.support.session import (
    FEEDBACK_LOOPS,
    HOUSE,
    MODE,
    PLANNER,
    SCENE,
    STEPS,
    VISIBILITY,
    Options,
    Ran,
    run_here,
)
from bbllm.cli.views.output import Output
from bbllm.core.budget import Limits
from bbllm.core.errors import ConfigError
from bbllm.planners.common.methods import MappingMethod


def run(
    task: TaskArgument,
    world: Annotated[
        WorldName,
        typer.Option(
            '--world',
            help='ros: the running stack. tabletop: simulate here, without ROS. household: '
            'symbols, see --house.',
        ),
    ] = WorldName.ros,
    house: HouseOption = None,
    mode: ModeOption = None,
    visibility: VisibilityOption = None,
    feedback_loops: LoopsOption = None,
    timeout: TimeoutOption = None,
    yes: YesOption = False,
    domain: DomainOption = None,
    namespace: NamespaceOption = None,
    scene: SceneOption = None,
    planner: PlannerOption = None,
    seed: SeedOption = None,
    speed: SpeedOption = None,
    viewer: ViewerOption = False,
    brain: BrainOption = None,
    body: BodyOption = None,
    mapping: MappingOption = None,
    llm_config: LlmConfigOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
    limit_steps: StepsOption = None,
    safety: SafetyOption = None,
    json: JsonOption = False,
) -> None:
    """
    Carry out one task, given in plain words.

    The stack that `bbllm up sim` or a launch file started does it; with --world tabletop, the
    arm is simulated in this process. What a stack is (scene, planner, models)
    is said when it is started. Where it asks a person before anything moves,
    it asks here, or tells what to type elsewhere.

    Exit code: 0 when the episode finished, 1 when it did not, 2 for input
    that cannot be used, 130 after Ctrl-C (the arm stops and keeps its hold).

    [bold]Examples[/bold]

      bbllm run 'put the red cube on location_B'
      bbllm run 'stack all cubes' --world tabletop --json
      bbllm run 'stack all cubes' --world tabletop --record talk.jsonl
      bbllm run 'watch tv' --house family_flat --planner prog_prompt
    """
    output = Output(json)
    world, house = _with_house(world, house, scene)
    if not house and (mode or visibility):
        raise ConfigError(
            '--mode and --visibility are for a house: add --house NAME (see `bbllm scenes`).'
        )
    if world is WorldName.ros:
        said_at_start = {
            '--scene': scene,
            '--planner': planner,
            '--seed': seed,
            '--speed': speed,
            '--viewer': viewer or None,
            '--brain': brain,
            '--body': body,
            '--mapping': mapping,
            '--llm-config': llm_config,
            '--record': record,
            '--replay': replay,
            '--limit-steps': limit_steps,
            '--safety': safety,
        }
        _refuse([name for name, value in said_at_start.items() if value is not None])
        choose_domain(domain)
        ran = _on_stack(task, output, namespace, feedback_loops, timeout, yes)
    else:
        if yes:
            raise ConfigError(f'--yes is for a running stack; --world {world.value} asks nobody.')
        options = Options(
            scene=scene or SCENE,
            house=house,
            mode=mode or MODE,
            visibility=visibility or VISIBILITY,
            planner=planner or PLANNER,
            brain=brain,
            body=body,
            mapping=mapping or MappingMethod.AUTO,
            k=FEEDBACK_LOOPS if feedback_loops is None else feedback_loops,
            seed=seed,
            speed=speed,
            viewer=viewer,
            record=record,
            replay=replay,
            llm_config=llm_config,
            safety=safety or '',
            limits=Limits(steps=limit_steps or STEPS, wall_s=timeout),
        )
        ran = run_here(task, options, output)
    pictures = draw(ran)
    tell_files(output, ran, pictures)
    output.result(summary_of(ran, pictures))
    leave(exit_code(ran))


def _with_house(world: WorldName, house: str | None, scene: str | None) -> tuple[WorldName, str]:
    """Return the world and the house in it, '' where there is none: each says the other."""
    if house is None and world is not WorldName.household:
        return world, ''
    if world is WorldName.tabletop or scene is not None:
        raise ConfigError(
            'A house has no table in it: leave --world tabletop and --scene out, or --house.'
        )
    return WorldName.household, house or HOUSE


def _refuse(names: list[str]) -> None:
    """Say where options belong that a running stack cannot take any more."""
    if names:
        raise ConfigError(
            f'A running stack cannot take {", ".join(names)} any more. Say it when the stack is '
            'started (options of `bbllm up`, arguments of a launch file), or add --world tabletop '
            'to run in this process.'
        )


def _on_stack(
    task: str,
    output: Output,
    namespace: str | None,
    loops: int | None,
    timeout_s: float | None,
    yes: bool,
) -> Ran:
    from bbllm.cli.support.stack_session import run_on_stack

    return run_on_stack(
        task, output, feedback_loops=loops, timeout_s=timeout_s, namespace=namespace, yes=yes
    )
