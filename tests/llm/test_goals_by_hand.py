"""Nobody but `bbllm bench` tells the stand-ins a goal."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.llm.config import GOAL_SUFFIX
from bbllm.llm.models.factory import load_config, make_models

TEXT = '{role}: {{provider: expert, goal: {{goal: hold}}}}'


@pytest.mark.parametrize('role', ['brain', 'body'])
def test_a_goal_that_somebody_wrote_is_refused_with_what_works(tmp_path: Path, role: str) -> None:
    file = tmp_path / 'llm.yaml'
    file.write_text(TEXT.format(role=role))

    with pytest.raises(ConfigError) as caught:
        load_config(file)

    assert str(caught.value).startswith(f'{file}: `{role}.goal` cannot be set')
    assert str(caught.value).endswith('Take it out.')


def test_a_goal_that_the_bench_wrote_for_a_node_is_told(tmp_path: Path) -> None:
    file = tmp_path / f'llm{GOAL_SUFFIX}'
    file.write_text(TEXT.format(role='brain') + '\nbody: {provider: offline}')

    assert make_models(load_config(file)).brain.name == 'expert'


def test_a_goal_is_not_among_what_a_slip_of_the_pen_is_told_to_be(tmp_path: Path) -> None:
    file = tmp_path / 'llm.yaml'
    file.write_text('brain: {gaol: x}')

    with pytest.raises(ConfigError, match=r'unknown key `brain\.gaol`') as caught:
        load_config(file)

    assert 'goal' not in str(caught.value).partition('Known')[2]
