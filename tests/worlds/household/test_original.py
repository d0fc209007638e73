"""VirtualHome beside the household, where it is not installed."""

from importlib.metadata import PackageNotFoundError

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.benchmarks.household_speed import virtualhome


def test_without_the_original_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(virtualhome, 'distribution', missing)
    monkeypatch.delitem(virtualhome.sys.modules, virtualhome._NAME, raising=False)

    with pytest.raises(ConfigError, match='make extras'):
        virtualhome.load_original()
