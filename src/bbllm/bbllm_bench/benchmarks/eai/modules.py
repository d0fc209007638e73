"""The modules of the benchmark: what they ask, and what it has as the right answer."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from bbllm.core.errors import ConfigError
from bbllm.core.protocols import Message
from bbllm.worlds.household.script import ScriptLine
from bbllm_bench.benchmarks.eai.package import Installed
from bbllm_bench.log.files import read_json, write_atomically
from bbllm_bench.suites.eai_suite import read_program

DATASET = 'virtualhome'
PROMPTS_S = 3600.0
"""How long the benchmark may take to write its prompts [s]."""
_GOALS = f'resources/{DATASET}/task_state_LTL_formula_accurate.json'
_NAME = re.compile(r'(\w+)\.(\d+)')
_LINE = re.compile(r'\[(\w+)\](.*)')
_OBJECT = re.compile(r'<(.+?)>\s*\((\d+)\)')


class Module(StrEnum):
    """What is asked for, in the benchmark's words."""

    GOAL = 'goal_interpretation'
    SUBGOAL = 'subgoal_decomposition'
    ACTION = 'action_sequencing'
    TRANSITION = 'transition_modeling'


GENERATED = (Module.GOAL, Module.ACTION)
"""Modules whose prompts its program writes. The package has none for goals, and those that it has
for actions ask for names of objects, where its evaluator reads names and ids."""


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt of the benchmark."""

    module: Module
    identifier: str
    messages: tuple[Message, ...]

    @property
    def name(self) -> str:
        """What it is called in recordings, for example `goal_interpretation-27_2`."""
        return f'{self.module}-{self.identifier}'

    @property
    def program(self) -> str:
        """The annotated program that it is made from, for example `27_2`."""
        return self.identifier.removeprefix('scene_1_')


def read_cases(module: Module, package: Installed) -> tuple[Case, ...]:
    """
    Return all prompts of a module, in the benchmark's order.

    Those of GENERATED its program writes (a minute), once for each environment.

    Raises:
        ConfigError: A file is missing, or of another form.
        EvaluationError: The program that writes prompts failed.
    """
    folder = f'evaluation/{module}/prompts'
    path = package.folder / folder / 'helm_prompts.json'
    if module in GENERATED:
        path = package.python.parent.parent / f'bbllm-{module}.json'
        if not path.is_file():
            work = path.with_suffix('.work')
            package.run('generate_prompts', module, work, PROMPTS_S)
            made = f'{DATASET}/generate_prompts/{module}/helm_prompt.json'
            write_atomically(path, (work / made).read_bytes())
    else:
        package.file(f'{folder}/helm_prompts.json')
    system: tuple[Message, ...] = ()
    if module is Module.SUBGOAL:
        setup = read_json(package.file(f'{folder}/system_setup.json'))
        system = (Message('system', setup['system_prompt']),)
    try:
        return tuple(
            Case(module, each['identifier'], (*system, Message('user', each['llm_prompt'])))
            for each in read_json(path)
        )
    except (TypeError, KeyError) as error:
        raise ConfigError(f'{path} is no list of prompts: {error!r}.') from error


def hash_of(cases: Sequence[Case]) -> str:
    """Return the sha256 of all that is asked."""
    texts = [[case.identifier, *(message.content for message in case.messages)] for case in cases]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def plan_text(lines: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> str:
    """Return actions and their objects as an answer: a dictionary that may repeat its keys."""
    items = (
        f'"{word}": {json.dumps([part for name, i in objects for part in (name, str(i))])}'
        for word, objects in lines
    )
    return f'{{{", ".join(items)}}}'


def text_of_script(lines: Sequence[ScriptLine]) -> str:
    return plan_text([(line.action.value, line.objects) for line in lines])


def annotated(module: Module, package: Installed) -> Callable[[Case], str]:
    """
    Return what writes the benchmark's annotation of a case as an answer.

    Raises:
        ConfigError: It has none for this module.
    """
    if module is Module.SUBGOAL:
        raise ConfigError(
            f'{module} has no annotated answers in the package. `--brain expert` answers '
            f'{", ".join(each for each in Module if each is not module)}.'
        )
    if module is Module.ACTION:
        return lambda case: _program(package.folder, case.program)
    if module is Module.TRANSITION:
        names = read_json(package.file(f'resources/{DATASET}/id2action.json'))
        actions = read_json(package.file(f'resources/{DATASET}/gold_action.json'))
        return lambda case: json.dumps(
            {'output': '\n'.join(_pddl(actions[name]) for name in names[case.program])}
        )
    goals = read_json(package.file(_GOALS))['scene_1']
    by_program = {name: data for programs in goals.values() for name, data in programs.items()}
    return lambda case: json.dumps(_goal(by_program[case.program]))


def _program(folder: Path, name: str) -> str:
    """
    Return an annotated program, its first step twice.

    The evaluator gives a plan that equals the annotation no credit for its goals.
    """
    lines = [
        (found[1], [(word, int(i)) for word, i in _OBJECT.findall(found[2])])
        for line in read_program(folder, name)
        if (found := _LINE.match(line))
    ]
    return plan_text([*lines[:1], *lines])


def _pddl(action: Mapping[str, str]) -> str:
    return (
        f'(:action {action["action_name"]}\n  :parameters {action["action_parameters"]}\n'
        f'  :precondition {action["action_preconditions"]}\n'
        f'  :effect {action["action_effects"]}\n)'
    )


def _goal(data: Any) -> dict[str, list[dict[str, str]]]:
    goal, names = (
        data['vh_goal'],
        {int(i): word for word, i in _NAME.findall(data['tl_goal'] or '')},
    )
    return {
        'node goals': [
            {'name': each['class_name'], 'state': each['state']}
            for each in goal['goal']
            if 'state' in each
        ],
        'edge goals': [dict(_edge(each, names)) for each in goal['goal'] if 'from_id' in each],
        'action goals': [
            {'action': text.split('|')[0], 'description': ''} for text in goal['actions']
        ],
    }


def _edge(edge: Mapping[str, Any], names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    yield 'from_name', names[edge['from_id']]
    yield 'relation', edge['relation_type']
    yield 'to_name', names[edge['to_id']]
