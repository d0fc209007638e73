"""`bbllm demo --ros`: the demo on nodes that are started for it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.cli.support.options import NeverOptions
from bbllm.cli.support.recording import Recording
from bbllm.cli.support.session import Ran, run_on_stack
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_task

if TYPE_CHECKING:
    from bbllm_ros.stack.stack import Value


def run_on_nodes(
    instruction: str,
    scene: str,
    speed: float,
    k: int | None,
    goal: str | None,
    bag: Path | None,
    output: Output,
    constraints: NeverOptions,
) -> Ran:
    """Run the task on five nodes that are started for it, beside any stack that runs."""
    from bbllm.api.ros_environment import need_ros
    from bbllm.scene.scene_file import load_scene

    need_ros('bbllm demo --ros')
    recording = Recording(bag)
    task = make_task(instruction)
    load_scene(scene)
    from bbllm_ros.stack.stack import Stack, StackConfig
    from bbllm_ros.stack.stack_checks import check_params

    simulator: dict[str, Value] = {'scene': scene, 'speed': speed}
    executor: dict[str, Value] = {
        name: '; '.join(texts) for name, texts in asdict(constraints).items() if texts
    }
    params = {'mujoco_sim': simulator, 'fr3_executor': executor}
    check_params(params, params, simulated=True)
    config = StackConfig(params=params, namespace='bbllm_demo')
    with Stack(config) as stack:
        output.print(f'Starting five nodes; logs in {stack.log_folder}', style='dim')
        with stack.wait_ready() as client, recording.of(client):
            ran = run_on_stack(task, client, output, feedback_loops=k, goal=goal)
    return recording.add_to(ran)
