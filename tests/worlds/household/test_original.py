"""VirtualHome beside the household, where it is not installed."""

from importlib.metadata import PackageNotFoundError

import pytest

from bbllm.core.errors import ConfigError
from tests.worlds.household import original_virtualhome


def test_without_the_original_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(original_virtualhome, 'distribution', missing)
    monkeypatch.delitem(
        original_virtualhome.sys.modules, original_virtualhome._NAME, raising=False
    )

    with pytest.raises(ConfigError, match='make extras'):
        original_virtualhome.load_original()
