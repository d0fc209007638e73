"""A model that answers from the episode gets it as data: the task, the events, the request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import EventKind
from bbllm.core.protocols import ChatModel, Message, PromptRequest, Reply, Situation, in_episode
from bbllm.core.types import Task
from bbllm.llm.recording.replay import RecordingModel, read_recording
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.prompting import ask


class SituatedDouble:
    """Replies with what it was handed."""

    name = 'double'
    supports_schema = False

    def __init__(self, situation: Situation | None = None):
        self.situation = situation

    def in_episode(self, situation: Situation) -> ChatModel:
        return SituatedDouble(situation)

    def refusal(self, planner: str) -> str:
        return f'not {planner}'

    def complete(self, messages: Sequence[Message], **_: object) -> Reply:
        assert self.situation is not None
        request = messages[0].request
        kinds = [event.kind for event in self.situation.events()]
        told = (
            self.situation.task.instruction,
            self.situation.planner,
            EventKind.WARNING in kinds,
        )
        return Reply(text=f'{told} {request.kind if request else None}', model=self.name)


def run() -> EpisodeRun:
    return EpisodeRun(Task('1', 'stack'), planner='huang', brain='double', body='none')


def test_situated_model_gets_the_task_the_events_and_the_request(tmp_path: Path) -> None:
    path = tmp_path / 'talk.jsonl'
    episode = run()
    model = episode.model(RecordingModel(SituatedDouble(), path, 'brain'), 'brain')
    episode.warn('something')

    reply = ask(model, 'the prompt', str, request=PromptRequest(kind='plan'))

    assert reply == "('stack', 'huang', True) plan"
    assert read_recording(path)[0].messages == (Message('user', 'the prompt'),)
    assert 'request' not in path.read_text().split('"reply"')[0]


def test_other_models_stay_as_they_are() -> None:
    model = ScriptedModel(['yes'])

    assert in_episode(model, Situation(task=Task('1', 'stack'), planner='huang')) is model
    assert RecordingModel(model, Path('talk.jsonl'), 'brain').refusal('huang') == ''
