"""`offline` where things go into containers, with `brain_body` in physics."""

from __future__ import annotations

import pytest

from bbllm.bench.oracle.model import offline
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending
from bbllm.core.tasks import make_task
from bbllm.planners.body.language_model import BodyLLM
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.worlds.tabletop.tabletop import TabletopWorld


@pytest.mark.parametrize(
    ('task', 'facts'),
    [
        (
            'put the banana and the strawberry on the plate',
            {'(banana on plate)', '(strawberry on plate)'},
        ),
        (
            'put the bottle in the box and the soup can in the box',
            {'(bottle in box)', '(soup_can in box)'},
        ),
    ],
)
def test_what_comes_second_into_a_container_leaves_the_first_in_it(
    task: str, facts: set[str]
) -> None:
    world = TabletopWorld('fruit')
    model = offline()
    run = EpisodeRun(make_task(task), planner='brain_body', brain='offline', body='offline')

    episode = run.execute(
        BrainBody(run.model(model, 'brain'), BodyLLM(run.model(model, 'body')), k=0), world
    )

    assert episode.ending is Ending.FINISHED, episode.message
    world.settled()
    told = [str(fact) for fact in world.observe().facts if fact.predicate in ('on', 'in')]
    assert facts <= {*told}
