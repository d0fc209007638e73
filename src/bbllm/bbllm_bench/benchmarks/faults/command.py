"""
`bbllm bench faults`: how tasks end when the robot fails, or robot and model at once.

Over the five nodes faults of the robot alone are injected; with `--planner`, tasks in this process
meet faults of the robot and of the model.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bbllm.api.ros_environment import need_ros
from bbllm.cli.support.options import JsonOption
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.sim.faults import Fault, fault_named
from bbllm_bench.benchmarks.faults import crossing
from bbllm_bench.benchmarks.faults.crossed import NO_FAULT
from bbllm_bench.benchmarks.faults.model_faults import ModelFault
from bbllm_bench.benchmarks.shared import exit_unless

EACH, IN_ALL = 20, 1000
"""Trials: of each fault over the nodes, and in all where faults are crossed."""
OUT, CROSSED_OUT = Path('bench-faults.json'), Path('bench-crossed-faults.json')


def faults(
    planner: Annotated[
        str | None,
        typer.Option(
            metavar='LIST',
            help='Cross faults of robot and model for these planners, or for all that play on '
            'the table, without ROS: brain_body,llm_pop.',
            show_default='the nodes of a stack, and no faults of models',
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            help='Trials of each fault; with --planner, trials in all.',
            show_default=f'{EACH}; {IN_ALL} with --planner',
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help='Of faults and moments.')] = 0,
    fault: Annotated[
        str,
        typer.Option(metavar='LIST', help=f'Only these of the robot: {NO_FAULT},reflex.'),
    ] = '',
    model_fault: Annotated[
        str,
        typer.Option(
            metavar='LIST', help=f'Only these of the model, with --planner: {NO_FAULT},cut.'
        ),
    ] = '',
    only: Annotated[
        str,
        typer.Option(
            metavar='LIST',
            help='Only the trials of these numbers, with --planner: 7,12.',
        ),
    ] = '',
    jobs: Annotated[
        int, typer.Option('--jobs', '-j', min=1, help='Trials at once, with --planner.')
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help='Where the JSON goes.', show_default=f'{OUT}; {CROSSED_OUT} with --planner'
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """
    Inject faults in mid-task, and report how the tasks end.

    Without --planner: faults of the robot, in a stack of five nodes with a
    stand-in as the Brain (needs ROS; some minutes).

    With --planner: each planner in this process, faults of the robot crossed
    with those of the model, whose replies come from a local server without a
    key. Ten invariants are checked after each trial: that it ends clearly,
    that nothing moves while a person is waited for, that no record is lost ...

    Exit code: 0 when each task ended as it should; 1 when one did not; 2 for
    input that cannot be used; 130 after Ctrl-C, with a report of the trials so far.

    Examples:
      bbllm bench faults --trials 20 --seed 7
      bbllm bench faults --planner all
      bbllm bench faults --planner brain_body,llm_pop --model-fault cut
      bbllm bench faults --planner all --seed 7 --only 123
    """
    robot = _robot_faults(fault)
    if planner is None:
        if model_fault or only or jobs > 1 or None in robot:
            raise ConfigError(
                'Without --planner the faults are those of a robot in a stack of nodes, one trial '
                'after the other: leave --model-fault, --only, --jobs and the fault none out, or '
                'add --planner all.'
            )
        need_ros('bbllm bench faults')
        from bbllm_bench.benchmarks.faults.robot import measure

        named = [each for each in robot if each is not None] or list(Fault)
        exit_unless(measure(named, trials or EACH, seed, out or OUT, json=json))
        return
    trials_drawn = crossing.drawn(
        planners=crossing.planners_named(planner),
        robot=robot or [None, *Fault],
        model=[_model_fault(name) for name in _words(model_fault)] or list(ModelFault),
        trials=trials or IN_ALL,
        seed=seed,
        numbers=_numbers(only),
    )
    exit_unless(crossing.measure(trials_drawn, seed, jobs, out or CROSSED_OUT, json=json))


def _robot_faults(text: str) -> Sequence[Fault | None]:
    return [
        None if name == NO_FAULT else fault_named(name, others=(NO_FAULT,))
        for name in _words(text)
    ]


def _model_fault(name: str) -> ModelFault:
    try:
        return ModelFault(name)
    except ValueError:
        known = [fault.value for fault in ModelFault]
        raise UnknownNameError('fault of a model', name, known) from None


def _numbers(text: str) -> frozenset[int]:
    try:
        return frozenset(int(word) for word in _words(text))
    except ValueError:
        raise ConfigError(
            f'--only {text!r} is no list of numbers of trials, such as --only 7,12.'
        ) from None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(',') if word.strip()]
