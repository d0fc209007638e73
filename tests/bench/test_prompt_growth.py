"""How prompts grow is read off the events of an episode."""

from __future__ import annotations

from bbllm.bench.scorers.scoring import prompt_growth
from bbllm.core.events import Ending, Episode, Event, LineDiscarded, ModelCall
from bbllm.core.types import Outcome, SkillCall, Status, Task


def call(role: str = 'brain', counted: int = 0, sent: int = 0) -> Event:
    made = ModelCall(role=role, model='m', prompt_tokens=counted, sent_tokens=sent)
    return Event(0.0, made)


def test_each_prompt_of_the_brain_is_told_with_the_calls_that_were_done_before_it() -> None:
    outcome = Event(0.0, Outcome(call=SkillCall('wait'), status=Status.SUCCEEDED))
    refused = Event(0.0, LineDiscarded('fly()', 'no such skill'))
    events = (
        *(call(counted=90, sent=100), call('body', counted=20), outcome, refused, outcome),
        *(call(sent=140), outcome, call(counted=160)),
    )

    episode = Episode(
        id='e',
        task=Task('e', 'tidy up'),
        planner='p',
        brain='m',
        body='m',
        ending=Ending.FINISHED,
        message='',
        events=events,
    )

    assert prompt_growth(episode) == ((0, 90), (2, 140), (3, 160))
