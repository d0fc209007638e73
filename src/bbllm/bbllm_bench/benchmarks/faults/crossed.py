"""
Trials that cross faults of the robot with faults of the model, for every planner of the table.

Each pair of faults gets the same share of the trials, and in each pair the planners take turns. A
trial is drawn by the seed and its number alone, so that one can be played again by itself.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from bbllm.core.events import Ending
from bbllm.sim.faults import Fault
from bbllm_bench.benchmarks.faults.model_faults import ModelFault
from bbllm_bench.benchmarks.faults.trials import LATEST, LATEST_GOAL, NEEDS_PERSON, STATES
from bbllm_bench.log.intervals import wilson

NO_FAULT = 'none'
MOST_DELAY_S = 1.0
"""How long after a goal of the robot its fault strikes at most, simulated time [s]."""
LATEST_REQUEST = 2
"""The last request that can be the first one struck, from 0: a plan and its calls are two or
three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossedTrial:
    """One task with at most one fault of the robot and one of the model."""

    number: int
    planner: str
    robot: Fault | None
    model: ModelFault
    after_goals: int
    """The fault of the robot strikes after so many goals of arm or hand."""
    delay_s: float
    """And so much later, simulated time [s]."""
    first_request: int
    """The first request that the fault of the model strikes, from 0."""
    lasting: bool
    """Whether it strikes all later ones too, or this one alone."""
    approves: bool
    """Whether a person reads each plan first; if not, plans begin while they are written."""
    person: bool
    """Whether a person answers when the robot has stopped."""
    seed: int
    """Of the noise of the sensors."""

    @property
    def names(self) -> dict[str, str]:
        """What it is summed up by: a name for each word of `KEYS`."""
        robot = NO_FAULT if self.robot is None else self.robot.value
        return {'robot': robot, 'model': self.model.value, 'planner': self.planner}


UNREAD = (ModelFault.NONSENSE, ModelFault.REFUSAL, ModelFault.WRONG_JSON, ModelFault.SWAPPED)
"""Faults whose reply a grammar may not take."""
NAMED_BY: Mapping[ModelFault, tuple[str, ...]] = {
    ModelFault.RATE_LIMIT: ('429',),
    ModelFault.SERVER_ERROR: ('500',),
    ModelFault.CUT: ('cut',),
    ModelFault.ENDLESS: ('did not end',),
    ModelFault.SLOW: ('in time',),
    ModelFault.EMPTY: ('empty reply',),
    **dict.fromkeys(UNREAD, ('can be read',)),
}
"""Words of which the message of an ending has one, where the fault of the model is its cause."""


def causes(trial: CrossedTrial, ending: Ending | None) -> tuple[str, ...]:
    """Return the words of which the message of an ending has to have one."""
    of_robot = () if trial.robot is None else STATES[trial.robot]
    of_model = NAMED_BY.get(trial.model, ())
    if ending is Ending.MODEL_FAILED:
        return of_model
    return of_robot if ending is Ending.WORLD_FAILED else (*of_robot, *of_model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One invariant that a trial broke."""

    invariant: str
    """A word of `INVARIANTS`."""
    evidence: str


INVARIANTS = {
    'ends': 'the episode ends in time, with an ending and without a fault of the program',
    'done': 'FINISHED: the settled table shows it; without any fault, the task is finished',
    'clear': 'any other ending has a message that names what was injected',
    'journal': 'the journal is read back with all events of the episode',
    'models': 'each call of a model is on record, with its reply and the name of the model',
    'outcomes': 'each call that the robot was given is on record with its outcome',
    'rest': 'at the end nothing moves, no goal runs, and none comes later',
    'waits': 'nothing moves while a person is waited for, and no goal comes then or before',
    'held': 'each object is in the hand or rests on the table, as the last scene on record has it',
    'left': 'no thread and no process of the episode is left',
}
"""What is checked after each trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossedResult:
    """How one trial came out."""

    trial: CrossedTrial
    ending: Ending | None
    """None where it did not end."""
    message: str
    robot_struck: bool
    """Whether the fault of the robot came before the end."""
    requests: int
    """How many requests the server got, each attempt by itself."""
    requests_struck: int
    goals: int
    """How many goals of arm and hand there were."""
    questions: int
    """How often a person was asked."""
    waited_s: float
    """How long a person was waited for in all, simulated time [s]."""
    wall_s: float
    violations: tuple[Violation, ...] = ()

    @property
    def finished(self) -> bool:
        return self.ending is Ending.FINISHED and not self.violations

    @property
    def good(self) -> bool:
        """Whether it ended in a finished task or a clear ending, with every invariant kept."""
        return not self.violations


def draw(
    n: int,
    seed: int,
    planners: Sequence[str],
    robot: Sequence[Fault | None],
    model: Sequence[ModelFault],
) -> list[CrossedTrial]:
    """Draw the trials with the numbers 0 to n - 1."""
    pairs = list(product(range(len(robot)), range(len(model))))
    random.Random(f'{seed}/pairs').shuffle(pairs)
    return [_draw(number, seed, planners, robot, model, pairs) for number in range(n)]


def _draw(
    number: int,
    seed: int,
    planners: Sequence[str],
    robot: Sequence[Fault | None],
    model: Sequence[ModelFault],
    pairs: Sequence[tuple[int, int]],
) -> CrossedTrial:
    again, place = divmod(number, len(pairs))
    i_robot, i_model = pairs[place]
    fault = robot[i_robot]
    rng = random.Random(f'{seed}/{number}')
    latest = LATEST if fault is None else LATEST_GOAL.get(fault, LATEST)
    return CrossedTrial(
        number=number,
        # As in a Latin square: each fault of either kind meets each planner about equally often.
        planner=planners[(again + i_robot + i_model) % len(planners)],
        robot=fault,
        model=model[i_model],
        after_goals=rng.randint(min(1, latest), latest),
        delay_s=0.0 if fault in LATEST_GOAL else rng.uniform(0.0, MOST_DELAY_S),
        first_request=rng.randint(0, LATEST_REQUEST),
        lasting=model[i_model] is ModelFault.SWAPPED or rng.random() < 0.5,
        approves=rng.random() < 0.5,
        person=fault not in NEEDS_PERSON or rng.random() < 0.5,
        seed=rng.randrange(2**31),
    )


KEYS = {'robot': 'fault of the robot', 'model': 'fault of the model', 'planner': 'planner'}
"""What trials are summed up by, with its title."""


def rows_of(results: Iterable[CrossedResult], key: str) -> list[dict[str, Any]]:
    """
    Sum up the trials by a word of `KEYS`, in the order of the names; `none` comes first.

    Counts are of all trials of the row, each with the interval of its share (Wilson, 95 %).
    """
    groups: dict[str, list[CrossedResult]] = {}
    for result in results:
        groups.setdefault(result.trial.names[key], []).append(result)
    names = sorted(groups, key=lambda name: (name != NO_FAULT, name))
    return [_row(name, groups[name], key) for name in names]


def _row(name: str, group: Sequence[CrossedResult], key: str) -> dict[str, Any]:
    n = len(group)
    by_robot = key == 'robot'
    finished = sum(result.finished for result in group)
    good = sum(result.good for result in group)
    endings = Counter('no end' if r.ending is None else r.ending.name for r in group)
    return {
        'name': name,
        'n': n,
        'struck': sum(r.robot_struck if by_robot else r.requests_struck > 0 for r in group),
        'finished': finished,
        'finished_interval': wilson(finished, n),
        'good': good,
        'good_interval': wilson(good, n),
        'endings': dict(endings.most_common()),
    }
