"""A stack that asks before it moves: its models, and what tests do to it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from bbllm.core.approval import Answer
from bbllm.testing import Handler, ModelServer, replies
from tests.ros.robots import nothing_waits
from tests.ros.stacks import Background, Running, inject, until

TASK = 'put the red cube on location_B'
YES = Answer(granted=True, by='ann')
BODY_MARK = '<rob0>'
GOAL_MARK = '\nConditions:'
PICK_PLACE = ['0: pick the red cube\n1: place it on location_B\n2: return to base\n3: Done']
BODY = {
    'pick the red cube': '<rob0>[pick] <red_cube>',
    'pick the blue cube': '<rob0>[pick] <blue_cube>',
    'location_B': '<rob0>[place] <location_B>',
    'location_C': '<rob0>[place] <location_C>',
    'return to base': '<rob0>[return_to_base]',
}


def prompt_of(request: dict[str, Any]) -> str:
    """Return the text of all messages of a request: what is fixed, then what is asked."""
    return '\n'.join(message['content'] for message in request['messages'])


def models(brain: list[str], body: dict[str, str]) -> Callable[[Handler, dict[str, Any]], None]:
    """
    Play both models: the Brain says these replies in turn, the Body knows these steps.

    For the goal of a task the Brain has no conditions, which takes none of its replies.
    """

    def behave(handler: Handler, request: dict[str, Any]) -> None:
        prompt = prompt_of(request)
        if GOAL_MARK in prompt:
            text = 'none'
        elif BODY_MARK in prompt:
            number, step = re.findall(r'Step: (?:<data>)?(\d+): (.*)', prompt)[-1]
            found = [call for words, call in body.items() if words in step]
            text = f'{number}: {(*found, "<pass>")[0]}'
        else:
            text = brain.pop(0) if len(brain) > 1 else brain[0]
        replies(text)(handler, request)

    return behave


def served_by(server: ModelServer, folder: Path) -> dict[str, Any]:
    """Return what starts nodes whose Brain and Body are a server's, without schemas or retries."""
    role = {'provider': 'openai', 'model': 'fake', 'retries': 0, 'schema': False, 'timeout_s': 20}
    config = folder / 'llm.yaml'
    config.write_text(yaml.safe_dump({'brain': role, 'body': {**role}}))
    given = {'llm_config': str(config)}
    return {
        'environ': {'OPENAI_BASE_URL': server.url, 'OPENAI_API_KEY': 'sk-test-never-shown'},
        'params': {'brain_planner': given, 'body_mapper': given},
    }


def end(stack: Running, task: Background) -> Any:
    stack.client.cancel()
    return task.result()


def end_all(stack: Running) -> None:
    """End what a test that failed has left under way, so that the next one finds nothing of it."""
    inject(stack, '', clear=True)
    until(
        lambda: not stack.client.cancel() and all(task.ended for task in stack.begun),
        'end of what the test has begun',
    )
    stack.begun.clear()
    nothing_waits(stack)
