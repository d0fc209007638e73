"""An episode that is cancelled, or cut off, stops the arm and is on record."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from scripted_episodes import PICK, TASK, EchoModel, OneCubeWorld, ScriptedPlanner, start

from bbllm.core.cancel import CancelToken
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending, Event, EventKind
from bbllm.core.protocols import EpisodeContext, Message, Reply, World
from bbllm.core.types import (
    Code,
    Outcome,
    SkillCall,
    Status,
)


def test_a_fault_of_the_program_is_on_record_stops_the_arm_and_goes_up() -> None:
    events: list[Event] = []
    world = OneCubeWorld()

    def script(world: World, context: EpisodeContext) -> None:
        raise ZeroDivisionError('oops')

    with pytest.raises(ZeroDivisionError):
        start(sink=events.append).execute(ScriptedPlanner(script), world)

    assert events[-1].kind is EventKind.ENDED
    assert 'ZeroDivisionError' in str(events[-1].data.message)
    assert world.stopped.is_set()


def test_cancel_stops_the_world_and_nothing_runs_after_it() -> None:
    run = start()
    world = OneCubeWorld()
    executed = []

    def script(world: World, context: EpisodeContext) -> None:
        executed.append(world.execute(PICK))
        run.cancel('The person pressed stop.')
        executed.append(world.execute(PICK))

    episode = run.execute(ScriptedPlanner(script), world)

    assert (episode.ending, episode.message) == (Ending.CANCELLED, 'The person pressed stop.')
    assert world.stopped.is_set()
    assert len(executed) == 1


def test_cancel_ends_a_reply_that_still_streams() -> None:
    run = start()
    echo = EchoModel()
    token = CancelToken(lambda: run.cancel('enough') if echo.spoken else None)
    model = run.model(echo, 'brain', token.raise_if_cancelled)

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'x')])

    assert run.execute(ScriptedPlanner(script), OneCubeWorld()).ending is Ending.CANCELLED
    assert len(echo.spoken) <= 2


def test_ctrl_c_ends_the_episode_as_cancelled() -> None:
    world = OneCubeWorld()

    def script(world: World, context: EpisodeContext) -> None:
        raise KeyboardInterrupt

    assert start().execute(ScriptedPlanner(script), world).ending is Ending.CANCELLED
    assert world.stopped.is_set()


def test_a_lost_node_ends_the_episode() -> None:
    lost = Outcome(
        call=PICK, status=Status.FAILED, code=Code.LOST_NODE, message='fr3_executor has gone.'
    )

    def script(world: World, context: EpisodeContext) -> None:
        world.execute(PICK)

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld(lost))

    assert (episode.ending, episode.message) == (Ending.WORLD_FAILED, 'fr3_executor has gone.')


class LateWorld(OneCubeWorld):
    """A world that stops only what moves, and begins to move a while after it was told to."""

    def __init__(self) -> None:
        super().__init__()
        self.told = threading.Event()
        self.begin = threading.Event()
        self.moving = threading.Event()

    def execute(self, call: SkillCall) -> Outcome:
        self.told.set()
        self.begin.wait(10.0)
        self.stopped.clear()
        self.moving.set()
        done = self.stopped.wait(10.0)
        code = Code.CANCELLED if done else Code.NONE
        return Outcome(call=call, status=Status.FAILED, code=code)


def test_a_cancel_before_the_first_motion_of_a_call_stops_it_all_the_same() -> None:
    run = start()
    world = LateWorld()
    outcomes: list[Outcome] = []
    context = ScriptedPlanner(lambda world, context: outcomes.append(world.execute(PICK)))
    thread = threading.Thread(target=run.execute, args=(context, world))
    thread.start()
    assert world.told.wait(10.0)

    run.cancel('stop')
    world.begin.set()
    thread.join(10.0)

    assert not thread.is_alive()
    assert world.moving.is_set() and world.stopped.is_set()
    assert outcomes == []  # the planner learns nothing more: the episode has ended


def test_a_sink_that_fails_ends_the_episode_and_the_others_hear_of_it() -> None:
    heard: list[Event] = []

    def full(event: Event) -> None:
        if event.kind is EventKind.OUTCOME:
            raise ConfigError('The disk is full.')

    run = EpisodeRun(TASK, planner='p', brain='b', body='b', sinks=[full, heard.append])

    def script(world: World, context: EpisodeContext) -> None:
        world.execute(PICK)
        world.execute(PICK)

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.steps, episode.message) == (1, 'The disk is full.')
    assert heard[-1].kind is EventKind.ENDED
    assert 'The disk is full.' in str(heard[-1].data)


def test_a_model_call_that_was_cut_off_is_on_the_account() -> None:
    class Interrupted(EchoModel):
        def complete(self, messages: Sequence[Message], **_: object) -> Reply:
            raise KeyboardInterrupt

    run = start()
    model = run.model(Interrupted(), 'brain')

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'x')])

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert episode.ending is Ending.CANCELLED
    assert len(episode.model_calls) == 1
