"""What the replay of a long episode costs."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bbllm.core.events import (
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    ModelCall,
    ModelReplied,
    PlanMade,
    StepBegun,
)
from bbllm.core.journal import episode_of
from bbllm.core.types import Outcome, SkillCall, Status
from bbllm_bench.benchmarks.console.chromium import launched
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_viewer.replay.recording import recording_of

SEEKS = """() => {
  const slider = document.querySelector('.scrubber input'), max = Number(slider.max);
  const seek = (time) => {
    const begun = performance.now();
    slider.value = time;
    slider.dispatchEvent(new Event('input'));
    document.body.getBoundingClientRect();      // with the layout
    return performance.now() - begun;
  };
  seek(0);
  const dragged = Array.from({ length: 200 }, (_, i) => seek(max * i / 200));
  const jumps = Array.from({ length: 60 }, (_, i) => seek(max * (i * 37 % 60) / 60));
  return [dragged, jumps];
}"""


def measure_replay(
    repeats: int, seed: int, advance: Callable[[str], None], n_steps: int
) -> Mapping[str, Measured]:
    """Measure an episode of so many steps, each with a model call; a seek in a drag, and far."""
    from bbllm_viewer.console.desk import RecordDesk
    from bbllm_viewer.console.server import PageServer
    from bbllm_viewer.web.server import Address

    events = [Event(1.8e9 + 0.2 * i, data) for i, data in enumerate(_long_episode(n_steps))]
    episode = episode_of(events)
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        journal = Path(folder) / 'long.jsonl'
        begun_s = time.process_time()
        record = recording_of(episode, journal)
        build_s = time.process_time() - begun_s
        with PageServer(RecordDesk(episode, journal), Address()) as server:
            page = browser.new_page(viewport={'width': 1280, 'height': 800})
            page.goto(server.url)
            page.locator('.scrubber .at').wait_for()
            dragged, jumps = page.evaluate(SEEKS)
            page.close()
    advance(f'{len(events):,} events')
    return {
        'build': Measured(values=(build_s,)),
        'size': Measured(values=(len(json.dumps(record)) / 1e6,)),
        'drag': Measured(values=tuple(dragged)),
        'jump': Measured(values=tuple(jumps)),
    }


def _long_episode(n_steps: int) -> Iterator[EventData]:
    steps = tuple(f'pick cube_{i}' for i in range(n_steps))
    yield EpisodeStarted(episode_id='long', task='pick all', planner='p', brain='m', body='m')
    yield PlanMade(steps, 0)
    for i, step in enumerate(steps):
        call = SkillCall('pick', (f'cube_{i}',))
        yield StepBegun(i, step)
        yield call
        yield ModelCall(role='body', model='m', prompt_tokens=10)
        yield ModelReplied('body', str(call))
        yield Outcome(call=call, status=Status.SUCCEEDED, duration_s=1.0)
    yield EpisodeEnded(Ending.FINISHED, '')
