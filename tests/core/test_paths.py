from pathlib import Path

import pytest

from bbllm.core import paths
from bbllm.core.errors import ConfigError


def test_configuration_of_a_checkout_is_the_folder_at_its_root() -> None:
    assert paths.config_dir() == Path(__file__).resolve().parents[2] / 'config'


def test_configuration_of_an_installed_package_is_in_the_share_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / 'share' / 'bbllm' / 'config'
    config.mkdir(parents=True)
    installed = tmp_path / 'lib' / 'python3.12' / 'site-packages' / 'bbllm'
    monkeypatch.setattr(paths, '_PACKAGE', installed)

    assert paths.config_dir() == config
    config.rmdir()
    with pytest.raises(ConfigError, match='share/bbllm/config'):
        paths.config_dir()


def test_state_follows_the_xdg_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', '/somewhere')

    assert paths.state_dir() == Path('/somewhere/bbllm')
    assert paths.episodes_dir() == Path('/somewhere/bbllm/episodes')


@pytest.mark.parametrize('value', ['', 'relative/path'])
def test_invalid_xdg_variable_counts_as_not_set(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', value)
    monkeypatch.setenv('HOME', '/home/someone')

    assert paths.state_dir() == Path('/home/someone/.local/state/bbllm')
