"""Another package adds verbs by an entry point, and cannot break those that are there."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.cli.support.verb_group import GROUP, Verb, find_verbs
from bbllm.core import plugins

OURS = {'approve', 'bench', 'demo', 'doctor', 'run', 'show', 'up'}
GREET = """
import typer

def greet(name: str) -> None:
    typer.echo(f'Good morning, {name}.')
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return what installs a package with modules and an entry point, for one test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ('greeting', 'greeting.greet'):  # an earlier test may have imported another one
        monkeypatch.delitem(sys.modules, name, raising=False)

    def write(package: str, target: str, **modules: str) -> None:
        about = tmp_path / f'{package}-1.0.dist-info'
        about.mkdir()
        (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
        (about / 'entry_points.txt').write_text(f'[{GROUP}]\n{package} = {target}\n')
        (tmp_path / package).mkdir()
        for name, code in modules.items():
            (tmp_path / package / f'{name}.py').write_text(code)
        plugins.forget()
        find_verbs.cache_clear()

    yield write
    plugins.forget()
    find_verbs.cache_clear()


def warnings_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_a_verb_of_another_package_is_listed_and_runs(
    install: Install, bbllm: Callable[..., Result]
) -> None:
    install('greeting', 'greeting:VERBS', __init__="VERBS = {'greet': 'Greet.'}", greet=GREET)

    assert find_verbs()['greet'] == Verb('greeting.greet', 'Greet.')
    assert bbllm('greet', 'Ada').output == 'Good morning, Ada.\n'
    assert 'Greet.' in bbllm('--help').output


@pytest.mark.parametrize(
    ('code', 'text'),
    [
        ('import no_such_module', "ModuleNotFoundError: No module named 'no_such_module'"),
        ('raise SystemError("no luck")', 'SystemError: no luck'),
        ('', "AttributeError: module 'greeting' has no attribute 'VERBS'"),
        ('VERBS = ["greet"]', "AttributeError: 'list' object has no attribute 'items'"),
    ],
)
def test_verbs_that_cannot_be_loaded_leave_the_others(
    install: Install, capsys: pytest.CaptureFixture[str], code: str, text: str
) -> None:
    install('greeting', 'greeting:VERBS', __init__=code)

    assert {*find_verbs()} >= OURS
    assert warnings_of(capsys) == [
        f'warning: The verbs of greeting:VERBS cannot be loaded: {text}'
    ]


@pytest.mark.parametrize('package', ['greeting', 'a_greeting'])  # after and before ours by name
def test_a_verb_whose_name_is_taken_is_left_out(
    install: Install, capsys: pytest.CaptureFixture[str], package: str
) -> None:
    verbs = "VERBS = {'run': 'Run away.', 'greet': ''}"
    install(package, f'{package}:VERBS', __init__=verbs)

    found = find_verbs()

    assert found['run'].module == 'bbllm.cli.commands.run'
    assert found['greet'].module == f'{package}.greet'
    assert warnings_of(capsys) == [
        f'warning: {package}.run is left out: `bbllm run` is bbllm.cli.commands.run.'
    ]
