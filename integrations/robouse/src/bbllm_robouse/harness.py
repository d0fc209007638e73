"""The harness `bbllm` of Robo Use: starts a planner of bbllm as the agent of a trial."""

import json
import os
from pathlib import Path
from typing import Any

from bbllm_robouse.environment import bbllm_python, with_sources

DEFAULT = 'brain_body/goal'
MODEL_SETTINGS = (
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'BBLLM_LLM_CONFIG',
    'BBLLM_RECORD',
    'BBLLM_REPLAY',
)
"""What a planner needs to reach a language model; the runner removes it from what agents get."""


def build(
    harness: str, model: str, prompt: str, workspace: Path, task: Any, env: dict[str, str]
) -> Any:
    """
    Return the launch of one trial; see `robouse.harnesses.Launch`.

    Args:
        harness: The name of the harness, `bbllm`.
        model: Planner and Brain, such as `brain_body/offline` or `llm_state/gpt-4o`; '' for
            `brain_body/goal`.
        prompt: The task in words.
        workspace: The folder of the agent.
        task: The task; only the stand-in `goal` receives its goals.
        env: The environment of the agent.

    Raises:
        ValueError: *model* is not a planner and a Brain.
        RuntimeError: There is no interpreter of bbllm.
    """
    from robouse.harnesses import Launch

    planner, slash, brain = (model or DEFAULT).partition('/')
    if not (planner and slash and brain):
        raise ValueError(
            f'--model {model} is no planner and Brain; write --model PLANNER/BRAIN, for example '
            '--model brain_body/offline'
        )
    order: dict[str, Any] = {'planner': planner, 'brain': brain, 'prompt': prompt}
    if brain == 'goal':
        scenario = task.spec.get('scenario') or {}
        order['goals'] = scenario.get('goals', [])
    file = workspace / '.robouse' / 'bbllm.json'
    file.write_text(json.dumps(order), encoding='utf-8')
    kept = {name: os.environ[name] for name in MODEL_SETTINGS if name in os.environ}
    command = [bbllm_python(), '-m', 'bbllm_robouse.play', str(file)]
    return Launch(
        command,
        with_sources({**env, **kept}),
        notes={'model': f'{planner}/{brain}', 'provider': 'bbllm'},
    )
