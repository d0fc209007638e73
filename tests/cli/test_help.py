"""Help is a plain list: a short one of the common options, and a whole one."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from bbllm.cli.support.lazy import command_of
from bbllm.cli.support.plain_help import COMMON, FEW
from bbllm.cli.support.verb_group import find_verbs
from bbllm_bench.benchmarks.driver.command import driver
from bbllm_bench.commands.bench import COMMANDS

Command = Callable[..., Result]
GROUPS = ('bench', 'calibrate', 'data')
NAMES = [
    *((name,) for name in find_verbs() if name not in GROUPS),
    *(('bench', name) for name in (*COMMANDS, 'tabletop', 'arm')),
    *(('calibrate', name) for name in ('sim', 'real', 'board')),
    ('data', 'demos'),
]


def options_of(*words: str) -> list[Any]:
    """Return the options of a verb."""
    package = find_verbs()[words[0]].module.rpartition('.')[0]
    module = importlib.import_module(f'{package}.{"_".join(words)}')
    return [
        x for x in command_of(getattr(module, words[-1])).params if x.param_type_name == 'option'
    ]


def listed(text: str) -> set[str]:
    """Return the options that a help lists: what its indented lines begin with."""
    heads = [line.split('  ')[1] for line in text.splitlines() if line.startswith('  -')]
    return {word.rstrip(',') for head in heads for word in head.split() if word.startswith('-')}


@pytest.mark.parametrize('words', NAMES, ids=' '.join)
def test_short_help_of_every_verb_fits_a_screen_and_has_no_frame(
    bbllm: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv('COLUMNS', '80')

    short, whole = bbllm(*words, '-h'), bbllm(*words, '--help-all')

    assert (short.exit_code, whole.exit_code) == (0, 0)
    assert short.output == bbllm(*words, '--help').output
    lines = short.output.splitlines()
    assert lines[0].startswith(f'Usage: bbllm {" ".join(words)}')
    assert len(lines) <= 60
    assert max(map(len, whole.output.splitlines())) < 110
    assert not set('│╭╰') & set(whole.output)
    assert '[bold]' not in whole.output
    assert listed(short.output) - {'--help-all'} <= listed(whole.output)


@pytest.mark.parametrize('verb', ['run', 'demo', 'up', 'show', 'plan'])
def test_whole_help_has_every_option_and_the_short_one_the_common_ones(
    bbllm: Command, verb: str
) -> None:
    names = [set(option.opts) for option in options_of(verb)]
    assert len(names) > FEW

    short, whole = bbllm(verb, '-h').output, bbllm(verb, '--help-all').output

    assert all(each & listed(whole) for each in names)
    shown = [each for each in names if each & listed(short)]
    assert shown == [each for each in names if each & COMMON]
    assert 4 <= len(shown) < len(names)
    assert f'Print all {len(names)} options' in short
    examples = [text.split('Examples:\n')[1].splitlines() for text in (short, whole)]
    assert len(examples[0]) < len(examples[1]) or verb == 'plan'
    assert all(line.startswith('  bbllm ') for each in examples for line in each)


def test_every_common_option_is_one_of_a_verb() -> None:
    modules = ('run', 'demo', 'up', 'show', 'plan', 'doctor')
    verbs = [options_of(x) for x in modules] + [
        options_of('bench', x) for x in ('suite', 'compare')
    ]
    verbs.append([x for x in command_of(driver).params if x.param_type_name == 'option'])
    known = {y for options in verbs for option in options for y in option.opts}

    assert COMMON - known - {'--suite'} == set()
