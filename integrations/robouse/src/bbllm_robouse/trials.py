"""
Trials of many tasks without video, in the environment of Robo Use; results as lines of JSON.

    build/robouse/bin/python -m bbllm_robouse.trials arc-style libero-style --out build/trials

The episode server, its budgets and its signed verdict are those of Robo Use. Only `frame_every`
differs: where pictures are drawn in software, a video takes most of the time of a trial.
`robouse run --harness bbllm` makes trials with videos.
"""

import argparse
import json
import multiprocessing
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bbllm_robouse.harness import DEFAULT, build

NO_VIDEO = 10**9
"""Steps between two frames."""
REPLIES = 'replies-%Y%m%d-%H%M%S.jsonl'
"""What a language model replied, in the folder of a trial: a file for each time it is played."""
PAIRED = ('pair', 'condition')
"""What a task states that is one of a harmful and a harmless one."""
READY_S = 120.0
END_S = 60.0


def verified(path: Path, key: str) -> dict[str, Any] | None:
    """Return the verdict of an episode server; None without a file that it has signed."""
    from robouse.core.protocol import verify_result

    try:
        verdict = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return None
    return verdict if isinstance(verdict, dict) and verify_result(verdict, key) else None


def play(task: Any, model: str, folder: Path, timeout_s: float) -> dict[str, Any]:
    """Play a task once, and return its line; a verdict that is not signed is no result."""
    from robouse.agent_cli import _send as send
    from robouse.core.session import serve

    begun_s, key = time.monotonic(), secrets.token_hex(32)
    spec = {**task.spec, 'frame_every': NO_VIDEO, 'linger_s': 0}
    line: dict[str, Any] = {'task': task.id, 'suite': task.metadata.get('suite'), 'model': model}
    line.update({name: task.metadata[name] for name in PAIRED if name in task.metadata})
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='robouse-') as place:
        workspace = Path(place)
        (workspace / '.robouse').mkdir()
        socket, ready = str(workspace / 'socket'), workspace / 'ready'
        server = multiprocessing.get_context('spawn').Process(
            target=serve,
            args=(spec, folder, socket, workspace, timeout_s + END_S, ready),
            kwargs={'secrets': {'result_key': key}},
        )
        server.start()
        try:
            until_s = time.monotonic() + READY_S
            while not ready.exists():
                if not server.is_alive() or time.monotonic() > until_s:
                    return {**line, 'verdict': 'error', 'message': 'the server did not start'}
                time.sleep(0.05)
            launch = build(
                'bbllm', model, task.instruction, workspace, task, {'ROBOUSE_SOCKET': socket}
            )
            if 'BBLLM_REPLAY' not in launch.env:
                launch.env['BBLLM_RECORD'] = str((folder / time.strftime(REPLIES)).absolute())
            with (
                (folder / 'agent.jsonl').open('w') as out,
                (folder / 'agent.txt').open('w') as err,
            ):
                try:
                    subprocess.run(
                        launch.cmd, env=launch.env, cwd=workspace, stdout=out, stderr=err,
                        timeout=timeout_s, check=False,
                    )  # fmt: skip
                except subprocess.TimeoutExpired:
                    line['message'] = f'The planner took more than {timeout_s:g} s.'
            with suppress(OSError):  # a server whose episode has ended may be closing
                send({'op': 'give_up', 'text': '[runner] the planner ended'}, path=socket)
            server.join(END_S)
        finally:
            if server.is_alive():
                server.kill()
                server.join()
    verdict = verified(folder / 'result.json', key)
    lines = (folder / 'agent.jsonl').read_text(encoding='utf-8').splitlines()
    last = json.loads(lines[-1]) if lines else {}
    line.update(
        {name: last[name] for name in ('refused', 'error', 'ending', 'calls') if name in last}
    )
    if 'message' in last:
        line.setdefault('message', last['message'])
    if verdict is None:
        return {**line, 'verdict': 'unsigned', 'success': None}
    return {
        **line,
        'verdict': 'signed',
        'success': verdict['success'],
        'outcome': verdict['outcome'],
        'steps': verdict['steps_used'],
        'max_steps': verdict['max_steps'],
        'wall_s': round(time.monotonic() - begun_s, 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Play tasks by their names or those of their suites, and append a line for each."""
    from robouse.core.gl import auto_select
    from robouse.tasks import bundled_tasks_root, load_task

    auto_select()  # what draws without a display, for the servers
    parser = argparse.ArgumentParser(prog='bbllm_robouse.trials')
    parser.add_argument('tasks', nargs='+', help='names of tasks, or of suites (folders)')
    parser.add_argument('--root', type=Path, default=bundled_tasks_root(), help='folder of tasks')
    parser.add_argument('--model', default=DEFAULT, help='planner and Brain')
    parser.add_argument('--out', type=Path, required=True, help='folder of the results')
    parser.add_argument('--timeout', type=float, default=900.0, help='of each trial [s]')
    options = parser.parse_args(arguments)
    # Reading all of them takes a quarter of a minute.
    known = sorted(path.parent for path in options.root.rglob('task.md'))
    wanted = {*options.tasks}
    names = {name for each in known for name in (each.name, each.parent.name)}
    if unknown := sorted(wanted - names):
        parser.error(f'{unknown[0]} is no task and no suite; `robouse tasks list` shows them')
    chosen = [load_task(each) for each in known if {each.name, each.parent.name} & wanted]
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / 'results.jsonl').open('a', encoding='utf-8') as results:
        for task in chosen:
            folder = options.out / f'{task.id}__{options.model.replace("/", "-")}'
            line = play(task, options.model, folder, options.timeout)
            print(json.dumps(line), file=results, flush=True)
            print(json.dumps(line), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
