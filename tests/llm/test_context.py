"""`context_tokens` of config/llm.yaml: how long prompts may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.prompt_size import prompt_limit
from bbllm.llm.models.factory import make_models, parse_config

URL = {'OPENAI_BASE_URL': 'http://localhost:11434/v1'}
TEXT = 'brain: {model: small, max_tokens: 1000, context_tokens: 8192}\nbody: {model: small}'


def test_prompts_have_what_the_reply_leaves_of_the_context(tmp_path: Path) -> None:
    record = tmp_path / 'talk.jsonl'
    models = make_models(parse_config(TEXT, 'f'), environ=URL, record=record)

    assert prompt_limit(models.brain) == 7192
    assert prompt_limit(models.body) is None


@pytest.mark.parametrize(
    ('section', 'says'),
    [
        ('context_tokens: 4047', r'`brain\.context_tokens` must be at least 4048, .*not 4047'),
        ('max_tokens: 100, context_tokens: 99', r'must be at least 2100, which is max_tokens'),
        ('context_tokens: long', r"`brain\.context_tokens` .*integer.*not 'long'"),
    ],
)
def test_a_context_without_room_for_prompts_is_refused(section: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_config(f'brain: {{{section}}}', 'llm.yaml')
