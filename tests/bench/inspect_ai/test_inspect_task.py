"""The bench under inspect_ai, with its mock model; nothing here asks a server."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('inspect_ai', reason='the extra `inspect` is not installed: make extras')

import anyio
from anyio import from_thread, to_thread
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ModelUsage, get_model

from bbllm.core.errors import BbllmError, ModelError
from bbllm.core.events import Event, EventKind
from bbllm.core.protocols import (
    ChatModel,
    Message,
    ModelRequest,
    OnText,
    Reply,
    Situation,
    data_url,
    in_episode,
)
from bbllm.llm.config import LlmConfig
from bbllm.llm.models.factory import Models
from bbllm.planners.common.call_grammar import CallForm, body_schema
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.inspect_ai.episode import PHYSICS, play_sample
from bbllm_bench.inspect_ai.model import InspectModel
from bbllm_bench.inspect_ai.task import tabletop
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.oracle.case_goals import brief_of
from bbllm_bench.oracle.model import expert, offline
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite

Run = Callable[..., EvalLog]
NEEDY = ['stack', 'movable_on_fixed']
"""A task that needs nothing, and one in which something has to be found out."""
TASK_FILE = 'src/bbllm/bbllm_bench/inspect_ai/task.py'


def output(text: str, **fields: Any) -> ModelOutput:
    """What a server would return; without usage the mock would fetch a tokenizer."""
    reply = ModelOutput.from_content('mock-1', text, **fields)
    reply.usage = ModelUsage(
        input_tokens=10, output_tokens=5, total_tokens=18, input_tokens_cache_read=3
    )
    return reply


def mock(answer: Callable[..., Any]) -> Model:
    return get_model('mockllm/model', memoize=False, custom_outputs=answer)


def plays_offline(asked: list[Any] | None = None) -> Model:
    """Reads the prompts as `offline` does."""

    def answer(messages: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        if asked is not None:
            asked.append(messages)
        return output(handed(offline(), messages, config))

    return mock(answer)


HANDED: dict[str, tuple[Sequence[Message], Situation]] = {}
"""By the text of a prompt: what the planner declared beside it, which inspect_ai does not send."""


@pytest.fixture(autouse=True)
def handing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let models of inspect_ai keep what a planner declares."""
    situations: dict[int, Situation] = {}
    whole = InspectModel.ask

    def in_episode(self: InspectModel, situation: Situation) -> ChatModel:
        situations[id(self)] = situation
        return self

    def ask(self: InspectModel, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        if id(self) in situations:
            HANDED[request.messages[-1].content] = (request.messages, situations[id(self)])
        return whole(self, request, on_text)

    monkeypatch.setattr(InspectModel, 'in_episode', in_episode, raising=False)
    monkeypatch.setattr(InspectModel, 'refusal', lambda self, planner: '', raising=False)
    monkeypatch.setattr(InspectModel, 'ask', ask)


def handed(model: ChatModel, messages: Any, config: GenerateConfig) -> str:
    """Return what a model that is handed the episode answers to a prompt."""
    given, situation = HANDED[messages[-1].text]
    return in_episode(model, situation).ask(ModelRequest(given, stop=config.stop_seqs or ())).text


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def start(task: Task | str, model: Model, **options: Any) -> EvalLog:
        [log] = evaluate(task, model=model, log_dir=str(tmp_path), display='none', **options)
        return read_eval_log(log.location)

    return start


def sample_of(log: EvalLog, name: str) -> EvalSample:
    assert log.samples is not None
    return next(sample for sample in log.samples if sample.id == name)


def scores_of(sample: EvalSample) -> dict[str, Any]:
    assert sample.scores is not None
    return {name: score.value for name, score in sample.scores.items()}


def titles(sample: EvalSample) -> Counter[str]:
    return Counter(event.source or '' for event in sample.events if event.event == 'info')


def test_log_holds_scores_by_task_and_every_step_of_an_episode(run: Run) -> None:
    log = run(tabletop(tasks=['plus_sign', 'right_side'], k=3), plays_offline())

    assert log.status == 'success'
    plus = sample_of(log, 'plus_sign-t000-k3')
    assert plus.metadata['least_loops'] == 2
    assert scores_of(plus)['goal'] == 'C'
    assert scores_of(plus)['feedback_loops'] >= 2
    shown = titles(plus)
    assert shown['plan'] == 1 + shown['repair']
    assert shown['repair'] == scores_of(plus)['feedback_loops']
    outcomes = sum(shown[title] for title in ('ok', 'failed', 'rejected'))
    assert shown['step'] == outcomes > 5
    assert shown['ended'] == 1
    assert any('OUT_OF_WORKSPACE' in event.data for event in plus.events if event.event == 'info')
    asked = [event for event in plus.events if event.event == 'model']
    assert len(asked) == 1 + shown['repair']  # all steps of these plans are calls already
    assert plus.model_usage['mockllm/model'].output_tokens == 5 * len(asked)
    assert log.results is not None
    goal = next(score for score in log.results.scores if score.name == 'goal')
    assert {name: metric.value for name, metric in goal.metrics.items()} == {
        'accuracy': 1.0,
        'stderr': 0.0,
        'plus_sign': 1.0,
        'right_side': 1.0,
    }


def informed_model(gather: bool) -> Model:
    """Reads the prompts of llm_pop as `expert` does, or as `uninformed`, who guesses."""
    cases = [make_case(load_suite('partial'), name, seed=0, trial=0) for name in NEEDY]

    def answer(messages: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        asked = messages[-1].text
        [case] = [case for case in cases if case.instruction in asked]
        goal = {**brief_of(case, 0).model_dump(), 'gather': gather}
        return output(handed(expert(goal), messages, config))

    return mock(answer)


@pytest.mark.parametrize(('gather', 'known', 'value'), [(True, True, 'C'), (False, False, 'I')])
def test_what_had_been_found_out_is_scored_where_a_task_asks_for_it(
    run: Run, gather: bool, known: bool, value: str
) -> None:
    log = run(tabletop('partial', NEEDY, planner='llm_pop'), informed_model(gather))

    assert log.results is not None
    stack, needy = (sample_of(log, f'{name}-t000-k3') for name in NEEDY)
    assert needy.scores is not None and stack.scores is not None
    assert scores_of(needy)['informed'] == value
    reported = needy.scores['goal'].metadata or {}
    assert (reported['informed'], bool(reported['information'])) == (known, True)
    assert reported['false_success'] == (scores_of(needy)['goal'] == 'I')
    assert (stack.scores['goal'].metadata or {})['informed'] is None
    informed = next(score for score in log.results.scores if score.name == 'informed')
    assert (informed.scored_samples, informed.unscored_samples) == (1, 1)
    assert informed.metrics['accuracy'].value == (1.0 if gather else 0.0)


@pytest.mark.parametrize('where', ['bbllm/tabletop', TASK_FILE])
def test_task_is_found_by_name_and_by_path(
    run: Run, repository: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)

    log = run(where, plays_offline(), task_args={'tasks': 'right_side', 'seed': 7})

    assert log.eval.task_args['seed'] == 7
    assert scores_of(sample_of(log, 'right_side-t000-k3'))['goal'] == 'C'


def test_server_that_fails_is_an_error_of_the_sample_and_no_failed_task(run: Run) -> None:
    def fail(*_: Any) -> ModelOutput:
        raise ConnectionError('the cable is out')

    log = run(tabletop(tasks='right_side'), mock(fail))

    assert log.status == 'error'
    [sample] = log.samples or []
    assert sample.error is not None
    assert 'the cable is out' in sample.error.message
    assert not sample.scores


def test_time_limit_ends_a_model_that_hangs_and_leaves_no_thread(run: Run) -> None:
    async def hang(*_: Any) -> ModelOutput:
        await anyio.sleep(60)
        return output('too late')

    before = threading.active_count()

    log = run(tabletop(tasks='right_side'), mock(hang), time_limit=1)

    [sample] = log.samples or []
    assert sample.limit is not None
    assert sample.limit.type == 'time'
    assert scores_of(sample)['goal'] == 'N'
    assert titles(sample)['ended'] == 1
    deadline_s = time.monotonic() + 60.0  # what ends a thread may end it later
    while threading.active_count() > before and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert [thread.name for thread in threading.enumerate()][before:] == []


def test_sample_that_is_stopped_stops_the_arm_in_the_middle_of_its_motion() -> None:
    case = make_case(load_suite('tabletop'), 'right_side', seed=0, trial=0)
    config = RunConfig(planner='brain_body', llm=LlmConfig())
    job = EpisodeSpec(key=EpisodeKey('right_side', 0, 3), case=case, config=config)
    events: list[Event] = []
    results: list[EpisodeResult] = []

    async def start() -> None:
        with anyio.CancelScope() as scope:

            def record(event: Event) -> None:
                events.append(event)
                if event.kind is EventKind.CALL:
                    from_thread.run_sync(scope.cancel)

            models = Models(offline(), offline())
            await to_thread.run_sync(lambda: results.append(play_sample(job, models, record)))

    anyio.run(start)

    [outcome] = [event.data for event in events if event.kind is EventKind.OUTCOME]
    assert outcome.code.name == 'CANCELLED'
    assert (results[0].verdict, results[0].ending) == ('lost', 'CANCELLED')
    assert PHYSICS.acquire(blocking=False)
    PHYSICS.release()


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'suite': 'tabletopp'}, 'Did you mean .tabletop.'),
        ({'tasks': 'plus_sing'}, 'Did you mean .plus_sign.'),
        ({'planner': 'brainbody'}, 'Did you mean .brain_body.'),
        ({'mapping': 'guess'}, 'Known: auto, text, schema, embedding'),
        ({'trials': 0}, 'at least one trial'),
        ({'k': -1}, 'no negative k'),
    ],
)
def test_what_cannot_be_played_is_refused_before_it_starts(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(BbllmError, match=message):
        tabletop(**arguments)


# --- A model of inspect_ai as one of ours: what it is asked, and what of its replies is no use


def asks(model: Model, **options: Any) -> tuple[InspectModel, Any]:
    """Ask as the solver does: in a worker thread of an event loop."""
    adapter = InspectModel(model, temperature=0.5)
    adapter.supports_schema = 'schema' in options

    async def ask() -> Any:
        return await to_thread.run_sync(
            lambda: adapter.ask(ModelRequest([Message('user', 'go')], **options))
        )

    return adapter, anyio.run(ask)


def test_stop_strings_are_sent_and_obeyed_where_a_server_ignores_them() -> None:
    sent: list[GenerateConfig] = []

    def answer(_: Any, __: Any, ___: Any, config: GenerateConfig) -> ModelOutput:
        sent.append(config)
        return output('0: pick a\nEND and more')

    _, reply = asks(mock(answer), stop=('END',))

    assert sent[0].stop_seqs == ['END']
    assert sent[0].temperature == 0.5
    assert reply.text == '0: pick a\n'
    assert (reply.model, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (
        'mock-1',
        13,  # what came from the server's cache was read too
        5,
    )


def test_schema_arrives_unchanged_and_is_dropped_where_it_is_refused() -> None:
    sent: list[GenerateConfig] = []
    table = TabletopWorld('plus_sign')
    schema = body_schema(CallForm(table.observe(), (0,)))

    def answer(_: Any, __: Any, ___: Any, config: GenerateConfig) -> ModelOutput:
        sent.append(config)
        if config.response_schema is not None:
            raise ValueError("400: Unsupported parameter 'response_format'")
        return output('<pass>')

    adapter, reply = asks(mock(answer), schema=schema)

    first, second = sent
    assert first.response_schema is not None
    assert first.response_schema.json_schema.model_dump(exclude_none=True) == schema
    assert second.response_schema is None
    assert reply.text == '<pass>'
    assert not adapter.supports_schema
    assert adapter.failure is None


@pytest.mark.parametrize(
    ('reply', 'message'),
    [
        (output('0: pi', stop_reason='max_tokens'), '--max-tokens'),
        (output('I would rather not.', stop_reason='content_filter'), 'declined'),
        (output('  '), 'empty reply'),
    ],
)
def test_an_unusable_reply_is_an_error_with_the_reason(reply: ModelOutput, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        asks(mock(lambda *_: reply))


def test_pictures_of_a_message_reach_the_model() -> None:
    png = b'\x89PNG\r\n\x1a\n and so on'
    sent: list[Any] = []

    def answer(messages: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        sent.extend(messages)
        return output('0: wait')

    async def ask() -> None:
        model = InspectModel(mock(answer))
        await to_thread.run_sync(
            model.ask, ModelRequest([Message('user', 'Look.', images=(png,))])
        )

    anyio.run(ask)

    text, picture = sent[0].content
    assert (text.text, picture.image) == ('Look.', data_url(png))
