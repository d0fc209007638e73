"""A robot that does what a test scripts, and notes what it was asked for."""

from dataclasses import dataclass, field

from bbllm.core.errors import TaskError
from bbllm.core.events import EpisodeStarted, Event, PlanMade
from bbllm_viewer.console.feed import Feed


@dataclass
class ScriptedDesk:
    feed: Feed = field(default_factory=Feed)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    refusal: str = ''

    def begin(self, instruction: str) -> None:
        self._take('begin', instruction)

    def say(self, text: str, question: str = '') -> None:
        self._take('say', text, *filter(None, [question]))

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        self._take('answer', hash, granted, reason)

    def choose(self, scene: str, model: str) -> None:
        self._take('choose', scene, model)

    def stop(self) -> None:
        self._take('stop')

    def _take(self, *asked: object) -> None:
        self.asked.append(asked)
        if self.refusal:
            raise TaskError(self.refusal)

    def start(self, *steps: str, task: str = 'put them in a row') -> None:
        """Let an episode begin with a plan."""
        start = EpisodeStarted(
            episode_id='e1', task=task, planner='brain_body', brain='gpt', body='gpt'
        )
        self.feed.take(Event(100.0, start))
        self.feed.take(Event(101.0, PlanMade(steps, 0)))
