"""Failures of earlier episodes in the first prompt."""

from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import EpisodeStarted
from bbllm.core.protocols import EarlierFailure, FailureMemory
from bbllm.core.registry import load_planner
from bbllm.core.types import Task
from bbllm.planners.assembly import check_memory
from bbllm.planners.brain_body.failure_memory import MOST, relevant
from bbllm.planners.brain_body.prompting import EARLIER_SENTENCE, Prompts
from bbllm.testing import ScriptedModel
from tests.planners.chosen import built, chosen
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary, busy_table

TASK = Task('t', 'put the red cube on location_A')
WARM = 'brain_body:memory=yes'
HEADING = 'Failures of earlier episodes, and what worked after them.'


def failed(call: str = 'pick(red_cube)', **changes: Any) -> EarlierFailure:
    """Return a failure of a pick of a cube, but for what is given."""
    values: dict[str, Any] = {
        'domain': 'tabletop',
        'task': 'stack the cubes',
        'call': call,
        'skill': call.partition('(')[0],
        'kinds': ('cube',),
        'error': 'COVERED',
        'sentence': 'blue_cube stands on it.',
        'worked': ('pick(blue_cube)', 'place(table)', call),
    }
    return EarlierFailure(**{**values, **changes})


def first_prompt(planner: str, memory: FailureMemory) -> tuple[str, EpisodeStarted]:
    """Return what the Brain is asked first, and what is recorded of the start."""
    brain = ScriptedModel(['0: pick(red_cube)\n1: place(location_A)'])
    run = EpisodeRun(TASK, planner=planner, brain='b', body='b', memory=memory)
    run.execute(built(run, planner, brain, ScriptedModel()), busy_table())
    start = run.events[0].data
    assert isinstance(start, EpisodeStarted)
    return brain.requests[0].messages[0].content, start


def test_first_prompt_has_what_failed_and_what_worked_after_it_and_is_else_the_same() -> None:
    memory = FailureMemory(
        (
            failed(times=3),
            failed(
                'place(location_I)',
                kinds=('location',),
                error='OUT_OF_WORKSPACE',
                sentence='It is too far.',
                worked=(),
            ),
        ),
        'h1',
    )

    cold, _ = first_prompt('brain_body', memory)
    warm, start = first_prompt(WARM, memory)

    section = warm[len(cold.partition('\n\nTask: ')[0]) : -len(cold.partition('\n\nTask: ')[2])]
    assert section == (
        f'\n\n{HEADING} Objects may be others, and elsewhere, now:\n<data>\n'
        'pick(red_cube), 3 times: blue_cube stands on it. '
        'Worked after it: pick(blue_cube), place(table), pick(red_cube)\n'
        'place(location_I): It is too far. It was not recovered.\n</data>\n\nTask: '
    )
    assert warm.replace(section, '\n\nTask: ') == cold
    assert start.settings['memory'] == 'h1'


def test_without_a_relevant_failure_the_prompt_is_that_of_a_cold_start() -> None:
    memory = FailureMemory((failed('open(fridge_1)', domain='household'),), 'h1')

    cold, start = first_prompt('brain_body', FailureMemory())
    assert first_prompt(WARM, memory)[0] == cold
    assert 'memory' not in start.settings


@pytest.mark.parametrize(
    'other',
    [
        failed(domain='household'),
        failed('juggle(red_cube)'),
        failed(kinds=('container',)),
    ],
)
def test_failures_of_other_worlds_skills_and_kinds_are_not_relevant(other: EarlierFailure) -> None:
    scene = busy_table().observe()

    assert relevant([other, failed()], TASK, scene) == (failed(),)


def test_equal_failures_are_one_and_the_number_is_bounded() -> None:
    scene = busy_table().observe()
    errors = [f'ERROR_{n}' for n in range(MOST + 3)]
    many = [failed(error=error) for error in errors]
    lost = failed('pick(green_cube)', worked=(), task=TASK.instruction)

    found = relevant([*many, failed('pick(aqua_cube)'), failed(), lost], TASK, scene)

    assert len(found) == MOST
    # The most frequent, then the newest; of equal ones the newest that was recovered.
    assert found[0] == failed(times=3)
    assert [each.error for each in found[1:]] == errors[:-MOST:-1]


def test_failures_of_similar_tasks_come_first() -> None:
    similar = failed(error='GRASP_FAILED', task='put the blue cube on location_B')

    found = relevant([similar, failed(times=9)], TASK, busy_table().observe())

    assert found == (similar, failed(times=9))


def test_a_long_failure_is_cut_and_cannot_leave_its_line() -> None:
    long = failed(sentence='so</data>\n' + 'very ' * 200)

    prompt = Prompts().planning(TASK, busy_table().observe(), memory=[long])

    (line,) = (line for line in prompt.splitlines() if 'pick(red_cube): so' in line)
    assert len(line) < EARLIER_SENTENCE + 200
    assert line.count('</data>') == 1 and line.endswith('</data>')


def test_prompts_of_a_house_name_classes() -> None:
    scene = SmallHouse().observe()
    fridge = next(name for name in scene.names if name.startswith('fridge'))
    other = failed(
        f'open({fridge})',
        domain='household',
        kinds=('fridge',),
        sentence='<character> (1) is not close to <fridge> (305).',
        worked=(f'walk({fridge})', f'open({fridge})'),
    )

    prompt = Prompts().planning(Task('t', 'open the fridge'), scene, memory=[other])

    assert (
        'open(fridge): <character> is not close to <fridge>. '
        'Worked after it: walk(fridge), open(fridge)'
    ) in prompt


def test_a_planner_without_its_memory_and_a_memory_without_its_planner_are_refused() -> None:
    with pytest.raises(ConfigError, match='--memory DIR'):
        check_memory(WARM, load_planner(WARM), given=False)
    with pytest.raises(ConfigError, match='Use `memory=no`'):
        check_memory(WARM, load_planner(WARM), given=None)
    for cold in ('brain_body', 'brain_body:memory=no', 'fltrnn'):
        with pytest.raises(ConfigError, match='brain_body:memory=yes'):
            check_memory(cold, load_planner(cold), given=True)
        for none in (False, None):
            check_memory(cold, load_planner(cold), given=none)
    check_memory(WARM, load_planner(WARM), given=True)
    assert chosen('brain_body').memory is False
    assert not Diary().memory.failures
