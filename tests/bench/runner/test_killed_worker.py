"""A worker that is killed while its episode waits for a model."""

import os
import signal
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bbllm.testing import ModelServer, replies
from bbllm.testing.model_server import Behaviour, Handler
from bbllm_bench.benchmarks.time.processes import children_of
from bbllm_bench.log.store import RunFolder, read_run
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.runner.runner import begin, run_bench
from bbllm_bench.runner.workers import Workers
from tests.bench.fake_run import Notes

WAIT_S = 300.0
"""How long a run may take to its second request on a busy machine [s]."""
NO_PLAN = replies('I would rather not say.')
"""Is read twice in vain, so that each episode asks twice and ends."""


def run(folder: Path, server: ModelServer, *behaviours: Behaviour) -> tuple[Any, Notes, int]:
    """Play two episodes with one worker; return results, notes and the number of requests."""
    server.will(*behaviours)
    server.bodies.clear()
    request = BenchRequest(
        suite='household',
        planner='brain_body',
        brain='gpt-4o',
        tasks=('watch_tv', 'make_toast'),
        trials=1,
        ks=(1,),
        record=folder.with_suffix('.jsonl'),
    )
    notes = Notes()
    with RunFolder(folder) as kept, closing(Workers(play, 1)) as workers:
        end = run_bench(begin(prepare(request, folder).plan, kept), kept, workers, notes)
    assert (end.reason, end.progress.done, end.progress.lost) == ('', 2, 0)
    found = [
        (x.key, x.verdict, x.error, x.message, x.model_calls, x.prompt_tokens, x.case_hash)
        for x in read_run(folder).results
    ]
    return found, notes, len(server.bodies)


def test_a_worker_killed_in_the_middle_of_an_episode_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    held, before = threading.Event(), children_of(os.getpid())

    def hold(handler: Handler, body: dict[str, Any]) -> None:
        held.set()
        handler.hang()

    def kill() -> None:
        if held.wait(WAIT_S):
            for pid in children_of(os.getpid()) - before:
                os.kill(pid, signal.SIGKILL)

    with ModelServer(NO_PLAN) as server:
        monkeypatch.setenv('OPENAI_BASE_URL', server.url)
        whole, calm, n = run(tmp_path / 'whole', server, NO_PLAN)
        killer = threading.Thread(target=kill)
        killer.start()
        killed, notes, n_with_kill = run(tmp_path / 'killed', server, NO_PLAN, hold, NO_PLAN)
        killer.join()

    assert held.is_set(), f'no second request came within {WAIT_S:g} s'
    assert (calm.warnings, n) == ([], 4)
    (warning,) = notes.warnings
    assert 'SIGKILL' in warning and 'It is played once more.' in warning
    assert killed == whole
    # What was answered before is not asked again.
    assert n_with_kill == n + 1
    lines = [(tmp_path / f'{name}.jsonl').read_text().splitlines() for name in ('whole', 'killed')]
    assert len(lines[0]) == len(lines[1])
