"""The optional extras: what setup.cfg offers is what `make extras` installs, beside the rest."""

import configparser
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.household_speed.virtualhome import VERSION


def _pins(file: Path) -> set[tuple[str, str, str]]:
    """Return name, version and marker of every package of a lock file."""
    found = re.findall(r'^([a-z][\w.-]*)==([\w.]+)([^\\\n]*)', file.read_text(), re.MULTILINE)
    return {(name, version, marker.strip()) for name, version, marker in found}


def test_extras_are_bounded_alike_in_setup_cfg_and_for_make(repository: Path) -> None:
    config = configparser.ConfigParser()
    config.read(repository / 'src/bbllm/setup.cfg')
    offered = config['options.extras_require']
    lines = (repository / 'requirements/extras.in').read_text().splitlines()
    installed = {line.replace(' ', '') for line in lines if line and not line.startswith('#')}

    wanted = (offered['ray'] + offered['inspect']).replace(' ', '').split()

    assert set(wanted) == installed


def test_extras_change_no_version_of_the_environment(repository: Path) -> None:
    requirements = repository / 'requirements'
    extras = _pins(requirements / 'extras.txt')
    for other in ('lock.txt', 'system.txt'):
        pinned = _pins(requirements / other)
        assert pinned, other
        shared = {name for name, _, _ in pinned} & {name for name, _, _ in extras}
        assert {pin for pin in extras if pin[0] in shared} <= pinned, other


def test_packages_of_the_system_are_not_replaced_by_the_extras(repository: Path) -> None:
    # Ubuntu's ROS messages are built for Ubuntu's numpy.
    assert not {'numpy', 'setuptools'} & {
        name for name, _, _ in _pins(repository / 'requirements/extras.txt')
    }


def test_the_original_household_is_pinned_in_the_version_that_its_driver_knows(
    repository: Path,
) -> None:
    assert _pins(repository / 'requirements/virtualhome.txt') == {('virtualhome', VERSION, '')}


@pytest.mark.parametrize('missing', ['extras', 'virtualhome'])
def test_what_one_machine_cannot_get_leaves_the_other_extras_be(
    missing: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(repository / 'tools')
    setup_env: Any = importlib.import_module('setup_env')
    files = {'extras': setup_env.EXTRAS, 'virtualhome': setup_env.VIRTUALHOME}
    stamps: dict[str, str] = {}

    def install(self: Any, locked: Path) -> None:
        if locked == files[missing]:
            raise setup_env.SetupError('no network here')

    monkeypatch.setattr(setup_env.Setup, '_install', install)
    for stage in ('make_venv', 'install_packages', 'build_interfaces', 'install_bbllm'):
        monkeypatch.setattr(setup_env.Setup, stage, lambda self: None)
    monkeypatch.setattr(setup_env, 'read_state', dict)
    monkeypatch.setattr(setup_env, 'write_state', lambda _, now: stamps.update(now))

    with pytest.raises(setup_env.SetupError, match='no network here'):
        setup_env.Setup().run(extras=True)

    assert set(files) & set(stamps) == set(files) - {missing}
    assert 'failed' in capsys.readouterr().out
