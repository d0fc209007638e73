"""Events of episodes as typed messages: nothing of a journal line is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest
from any_records import (
    calls,
    counts,
    hands,
    lists,
    model_calls,
    objects,
    outcomes,
    scenes,
    stamps,
    texts,
)
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.msg import Outcome as OutcomeMsg
from hypothesis import given
from hypothesis import strategies as st
from paper_world import PaperWorld
from rclpy.serialization import deserialize_message, serialize_message

from bbllm.bench.oracle.model import offline
from bbllm.core.approval import Answer, ApprovalRequest, RequestKind
from bbllm.core.budget import Limits
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import (
    BeliefsEstimated,
    ConditionChecked,
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    EventKind,
    FeedbackReceived,
    LineDiscarded,
    ModelReplied,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
    WarningRaised,
    WordGrounded,
)
from bbllm.core.observation import observed
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.records import to_json
from bbllm.core.registry import load_planner
from bbllm.core.types import Code, Plan, PlanStep, Scene, SkillCall, Status, Task
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import build_planner
from bbllm.ros.convert.approval import approval_event
from bbllm.ros.convert.events import event_from_msg, event_to_msg, feedback_event

pytestmark = pytest.mark.ros

flags = st.booleans()
codes = st.none() | st.sampled_from([code for code in Code if code is not Code.NONE])
sensed = st.builds(
    Scene,
    st.lists(objects, max_size=3, unique_by=lambda item: item.name).map(tuple),
    st.just(()),
    st.just(()),
    stamps,
    st.none() | hands,
).map(observed)
limits = st.builds(
    Limits,
    steps=st.none() | st.integers(1, 1000),
    model_calls=st.none() | st.integers(1, 1000),
    tokens=st.none() | st.integers(1, 2**31 - 1),
    wall_s=st.none() | st.floats(1.0, 1e5),
)
requests = st.builds(
    ApprovalRequest,
    kind=st.sampled_from([RequestKind.PLAN, RequestKind.CALL, RequestKind.RESUME]),
    hash=texts,
    title=texts,
    lines=lists,
    reason=texts,
    episode_id=texts,
)
answers = st.builds(Answer, granted=flags, reason=texts, by=texts, automatic=flags)


texts_of = lists.map(tuple)
DATA: dict[EventKind, st.SearchStrategy[EventData]] = {
    EventKind.STARTED: st.builds(
        EpisodeStarted,
        **dict.fromkeys(('task', 'planner', 'brain', 'body', 'version'), texts),
        episode_id=st.just('e'),
        limits=limits,
        settings=st.dictionaries(texts, counts | texts | flags | lists.map(list)),
    ),
    EventKind.SCENE: st.builds(SceneRecorded, st.sampled_from(['before', 'after']), scenes),
    EventKind.PLAN: st.builds(PlanMade, texts_of, counts, counts),
    EventKind.STEP: st.builds(StepBegun, counts, texts),
    EventKind.PASS: st.builds(StepPassed, counts, texts),
    EventKind.CALL: calls,
    EventKind.GROUNDED: st.builds(WordGrounded, texts, texts, texts, counts),
    EventKind.CHECKED: st.builds(
        ConditionChecked, texts, flags, st.sampled_from(['model', 'graph'])
    ),
    EventKind.SUB_GOAL: st.builds(SubGoalBegun, texts, counts, counts),
    EventKind.ESTIMATED: st.builds(
        BeliefsEstimated, st.dictionaries(texts, texts_of, max_size=3), texts
    ),
    EventKind.DISCARDED: st.builds(LineDiscarded, texts, texts, flags, codes, texts_of),
    EventKind.OUTCOME: outcomes,
    EventKind.SENSED: sensed,
    EventKind.REPAIR: st.builds(RepairBegun, counts, texts, texts, st.integers(1, 99), codes),
    EventKind.FAILED: st.builds(StepFailed, counts, texts, texts, codes),
    EventKind.MODEL_TEXT: st.builds(ModelReplied, texts, texts),
    EventKind.MODEL_CALL: model_calls,
    EventKind.HUMAN_FEEDBACK: st.builds(FeedbackReceived, texts),
    EventKind.APPROVAL: st.builds(approval_event, requests, answers, st.just(0.0)).map(
        lambda event: event.data
    ),
    EventKind.WARNING: st.builds(WarningRaised, texts),
    EventKind.ENDED: st.builds(EpisodeEnded, st.sampled_from(Ending), texts, texts),
}
"""What each kind of event may have."""


def sent(event: Event) -> EpisodeEvent:
    """Return an event as a subscriber receives it."""
    return deserialize_message(serialize_message(event_to_msg(event, 'e')), EpisodeEvent)


def assert_survives(event: Event) -> None:
    back = event_from_msg(sent(event))

    assert (back.kind, back.stamp_s) == (event.kind, pytest.approx(event.stamp_s, abs=1e-8))
    assert_same(to_json(back.data), to_json(event.data))


def assert_same(back: Any, given: Any) -> None:
    """Compare JSON values; a number may differ by a nanosecond, since stamps have no more."""
    if isinstance(given, dict):
        assert back.keys() == given.keys()
        for key, value in given.items():
            assert_same(back[key], value)
    elif isinstance(given, list):
        assert len(back) == len(given)
        for one, other in zip(back, given, strict=True):
            assert_same(one, other)
    elif isinstance(given, float):
        assert back == pytest.approx(given, abs=1e-8)
    else:
        assert back == given


def test_every_kind_has_its_data_described_here() -> None:
    assert set(DATA) == set(EventKind)


@pytest.mark.parametrize('kind', list(EventKind))
@given(data=st.data(), stamp_s=stamps)
def test_every_kind_survives_the_round_trip(
    kind: EventKind, data: st.DataObject, stamp_s: float
) -> None:
    assert_survives(Event(stamp_s, data.draw(DATA[kind])))


def test_a_stamp_of_today_survives_to_the_last_bit() -> None:
    for stamp_s in (1795367923.1234567, 1795367923.9999998, 0.1, 12.5):
        event = Event(stamp_s, WarningRaised(text='careful'))

        assert event_from_msg(sent(event)).stamp_s == stamp_s


class Teller:
    """A planner that announces everything that a planner can announce."""

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        step = PlanStep(0, 'pick the red cube')
        context.emit(PlanMade.of(Plan((step, PlanStep(1, 'sing'))), 0))
        context.emit(StepBegun.of(step))
        context.emit(StepPassed.of(PlanStep(1, 'sing')))
        context.emit(WordGrounded('cube', 'red_cube', policy='nearest', among=8))
        context.emit(ConditionChecked("'close' to 'cube'", True, by='graph'))
        context.emit(SubGoalBegun('find the cube', index=0, of=2))
        context.emit(BeliefsEstimated({'red_cube': ('warm',), 'blue_cube': ()}, 'nothing yet'))
        context.emit(LineDiscarded('fly()', 'it names no skill'))
        context.emit(LineDiscarded('pick(x)', 'no x', code=Code.UNKNOWN_OBJECT, rules=('exists',)))
        world.execute(SkillCall('pick', ('red_cube',)))
        world.observe()
        world.execute(SkillCall('pick', ('azure_cube',)))
        context.emit(RepairBegun.of(step, 'it slipped'))
        context.emit(StepFailed.of(step, 'it slipped', code=Code.GRASP_FAILED))
        context.warn('careful')


def test_whatever_a_planner_announces_survives_the_round_trip() -> None:
    events: list[Event] = []
    run = EpisodeRun(Task('e', 'tidy up'), planner='p', brain='b', body='b', sinks=[events.append])
    world = PaperWorld('tabletop', on_call=lambda: run.hear('the left one'))

    run.execute(Teller(), world)

    models = {EventKind.MODEL_CALL, EventKind.MODEL_TEXT, EventKind.APPROVAL}
    assert {event.kind for event in events} == set(EventKind) - models
    for event in events:
        assert_survives(event)


def test_an_episode_of_a_planner_with_a_model_survives_the_round_trip() -> None:
    events: list[Event] = []
    run = EpisodeRun(
        Task('e', 'put the red cube on the azure cube'),
        planner='brain_body',
        brain='offline',
        body='offline',
        sinks=[events.append],
        settings={'feedback_loops': 3, 'world': 'paper'},
    )
    models = Models(brain=offline(), body=offline())
    planner = build_planner(run, load_planner('brain_body'), models, k=3)

    run.execute(planner, PaperWorld('tabletop'))

    assert {EventKind.MODEL_CALL, EventKind.MODEL_TEXT, EventKind.REPAIR} <= {
        event.kind for event in events
    }
    for event in events:
        assert_survives(event)


def test_feedback_has_of_a_scene_only_its_header() -> None:
    scene = PaperWorld('tabletop').observe()
    event = Event(5.0, SceneRecorded('before', scene))

    whole = event_to_msg(event, 'e', 7.0)
    short = feedback_event(whole)

    assert len(serialize_message(whole)) > 4000
    assert len(serialize_message(short)) < 500
    assert short.scene[0].scene.header == whole.scene[0].scene.header
    assert (short.scene[0].moment, short.text) == ('before', whole.text)
    assert (short.header.stamp.sec, short.wall_stamp.sec, short.episode_id) == (7, 5, 'e')
    other = event_to_msg(Event(5.0, WarningRaised(text='careful')), 'e')
    assert feedback_event(other) is other


def test_an_event_without_its_payload_or_of_no_known_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="'outcome' has its data in 'outcome'"):
        event_from_msg(EpisodeEvent(kind=EpisodeEvent.OUTCOME))
    with pytest.raises(ValueError, match='of another version'):
        event_from_msg(EpisodeEvent(kind='of another version'))


def test_an_outcome_that_nobody_filled_in_is_a_failure() -> None:
    event = event_from_msg(EpisodeEvent(kind=EpisodeEvent.OUTCOME, outcome=[OutcomeMsg()]))

    assert (event.data.status.name, event.data.code.name) == (
        Status.FAILED.name,
        Code.INTERNAL.name,
    )


def test_measured_values_are_numbers_that_tools_can_plot() -> None:
    kinds = {
        field: EpisodeEvent.get_fields_and_field_types()[field]
        for field in ('outcome', 'sensed', 'model_call')
    }

    assert kinds == {
        'outcome': 'sequence<bbllm_interfaces/Outcome, 1>',
        'sensed': 'sequence<bbllm_interfaces/Observation, 1>',
        'model_call': 'sequence<bbllm_interfaces/ModelCall, 1>',
    }
    assert OutcomeMsg.get_fields_and_field_types()['duration_s'] == 'double'
