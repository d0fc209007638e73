"""The file of the safety envelope: what it says, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbllm.arm.envelope import SafetyEnvelope, load_envelope, parse_envelope
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir


def test_the_file_of_the_project_says_what_holds_where_nothing_is_said() -> None:
    assert load_envelope() == SafetyEnvelope()


@pytest.mark.parametrize('path', sorted(config_dir().glob('safety*.yaml')), ids=lambda p: p.stem)
def test_every_safety_file_of_the_project_can_be_used(path: Path) -> None:
    assert isinstance(load_envelope(path.stem), SafetyEnvelope)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('', 'holds no safety envelope. It takes the rules workspace, tcp_speed'),
        ('- 1', 'holds no safety envelope'),
        ('tcp_sped: {max_m_s: 1}', 'unknown key `tcp_sped`. Did you mean `tcp_speed`?'),
        ('tcp_speed: {max_ms: 1}', 'unknown key `tcp_speed.max_ms`. Did you mean `max_m_s`?'),
        ('tcp_speed: {max_m_s: 5}', '`tcp_speed.max_m_s` should be less than or equal to 3'),
        ('tcp_speed: {max_m_s: fast}', '`tcp_speed.max_m_s` should be a valid number'),
        ('tcp_speed: {max_m_s: .nan}', '`tcp_speed.max_m_s` should be a finite number'),
        ('grip_force: {max_n: 141}', '`grip_force.max_n` should be less than or equal to 140'),
        ('workspace: {min_m: [0, 0, 0]}', '`workspace.max_m` is missing'),
        (
            'workspace: {min_m: [0, 0, 0], max_m: [1, -1, 1]}',
            '`workspace` must have y of min_m below that of max_m: 0 is not below -1',
        ),
        ('keep_out: [{min: [0, 0, 0]}]', 'unknown key `keep_out.0.min`. Did you mean `min_m`?'),
        (
            'keep_out: [{name: a b, min_m: [0, 0, 0], max_m: [1, 1, 1]}]',
            '`keep_out.0.name` must be one word',
        ),
        (
            'keep_out: [{name: a, min_m: [0, 0, 0], max_m: [1, 1, 1]},'
            ' {name: a, min_m: [0, 0, 0], max_m: [1, 1, 1]}]',
            'a stands there twice',
        ),
        ('tcp_speed: {max_m_s: 1}\ntcp_speed: {max_m_s: 2}', 'line 2: `tcp_speed` stands there'),
        ('tcp_speed: [', 'line 1'),
        ('? [a, b]\n: 3', 'line 1: a list or a mapping stands there as a key'),
        ('stale_scene:\n  ? {a: b}\n  : 3', 'line 2: a list or a mapping stands there as a key'),
        ('stale_scene: {1: 2}', 'unknown key `stale_scene.1`. Known: max_age_s.'),
        ('stale_scene: 3', '`stale_scene` should have keys of its own: max_age_s, not 3.'),
        ('tcp_speed: null', '`tcp_speed` should have keys of its own: max_m_s, not null.'),
        ('keep_out: {name: a}', '`keep_out` should be a list.'),
        ('keep_out: [3]', '`keep_out.0` should have keys of its own: min_m, max_m, name, not 3.'),
        ('workspace: {min_m: 0, max_m: [1, 1, 1]}', '`workspace.min_m` should be a list, not 0.'),
        (
            'workspace: {min_m: [0, 0, 0, 0], max_m: [1, 1, 1]}',
            '`workspace.min_m` should have at most 3 items, not 4.',
        ),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_what_would_do(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_envelope(text, 'my.yaml')

    assert str(caught.value).startswith('my.yaml')
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'nowhere\.yaml: No such file'):
        load_envelope(tmp_path / 'nowhere.yaml')
    with pytest.raises(ConfigError, match=r"named 'safty'\. Known: safety, safety_slow"):
        load_envelope('safty')


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('tcp_speed: {max_m_s: 0.5}')
    first = load_envelope(path)
    path.write_text('tcp_speed: {max_m_s: 0.25}')

    assert first.tcp_speed.max_m_s == 0.5
    assert load_envelope(str(path)).tcp_speed.max_m_s == 0.25
