"""
Play one episode of Robo Use with a planner of bbllm: `python -m bbllm_robouse.play ORDER.json`.

The harness writes the order. The output is the journal of the episode, and as its last line
what came of it, as JSON.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bbllm_robouse.episode import Episode
from bbllm_robouse.goal_model import goal_model
from bbllm_robouse.instruction import GIVE_UP, instruction_of
from bbllm_robouse.table import NoObjectsError, NoSkillError
from bbllm_robouse.world import RoboUseWorld

from bbllm.api.config import EpisodeConfig
from bbllm.api.setup import make_chosen_models, run_episode
from bbllm.core.errors import BbllmError, ConfigError, TaskError, WorldError
from bbllm.core.events import Ending
from bbllm.core.journal import line_of

REFUSED = (NoObjectsError, NoSkillError, TaskError)
"""What bbllm cannot play, whatever the planner does."""
GONE = 3
"""Exit code where the episode server does not answer."""


def play(order: Mapping[str, Any], episode: Episode) -> dict[str, object]:
    """
    Run a planner on an episode, and end that.

    The episode is given up where the planner does, and where it cannot be played; then `refused`
    names the error.

    Raises:
        WorldError: The episode server has gone.
        ConfigError: There is no such planner or model.
    """
    by_goal = order['brain'] == 'goal'
    stand_in = by_goal or order['brain'] == 'offline'
    try:
        world = RoboUseWorld(episode)
        text = instruction_of(order['prompt'], episode.observe(), hint='' if stand_in else GIVE_UP)
    except REFUSED as error:
        episode.end(f'{type(error).__name__}: {error}', done=False)
        return {'refused': type(error).__name__, 'message': str(error)}
    chosen = {
        'brain': goal_model(order['goals']) if by_goal else order['brain'],
        'body': 'offline' if stand_in else None,
        'llm_config': os.environ.get('BBLLM_LLM_CONFIG'),
    }
    if not stand_in:
        chosen['record'] = os.environ.get('BBLLM_RECORD')
        chosen['replay'] = os.environ.get('BBLLM_REPLAY')
    models = make_chosen_models(EpisodeConfig.of(chosen))
    record = run_episode(
        text,
        order['planner'],
        world,
        brain=models.brain,
        body=models.body,
        on_event=lambda event: print(line_of(event), end='', flush=True),
    )
    done = record.ending not in (Ending.GAVE_UP, Ending.MODEL_FAILED)
    if record.ending is Ending.WORLD_FAILED:
        episode.observe()  # raises where the server has gone
    with suppress(WorldError):  # the budget of steps may have ended it
        episode.end(record.message or record.ending.name, done=done)
    return {
        'ending': record.ending.name,
        'message': record.message,
        'calls': record.steps,
        'loops': record.feedback_loops,
        'model_calls': len(record.model_calls),
        'steps': world.steps,
    }


def main() -> int:
    """Play the order of the command line; return an exit code."""
    order = json.loads(Path(sys.argv[1]).read_text(encoding='utf-8'))
    try:
        result = play(order, Episode.of_environment())
    except WorldError as error:
        print(json.dumps({'error': type(error).__name__, 'message': str(error)}))
        print(error, file=sys.stderr)
        return GONE
    except (ConfigError, BbllmError) as error:
        print(json.dumps({'error': type(error).__name__, 'message': str(error)}))
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(result))
    return 0


if __name__ == '__main__':
    sys.exit(main())
