"""`bbllm demo --ros`: the demo on nodes that are started for it."""

from __future__ import annotations

from bbllm.api.config import EpisodeConfig
from bbllm.api.ros_environment import need_ros
from bbllm.cli.support.session import Ran, Recording, run_on_stack
from bbllm.cli.views.output import Output
from bbllm.core.tasks import make_task


def run_on_nodes(instruction: str, config: EpisodeConfig, output: Output) -> Ran:
    """Run the task on five nodes that are started for it, beside any stack that runs."""
    need_ros('bbllm demo --ros')
    recording = Recording(config.bag)
    task = make_task(instruction)
    from bbllm_ros.parameters.node_params import chosen_params
    from bbllm_ros.stack.session import StackSession
    from bbllm_ros.stack.stack import Stack, StackConfig
    from bbllm_ros.stack.stack_checks import check_params

    params = chosen_params(config)
    params['mujoco_sim']['speed'] = config.speed or 0.0
    check_params(('mujoco_sim', 'fr3_executor'), params, simulated=True)
    with Stack(StackConfig(params=params, namespace='bbllm_demo')) as stack:
        output.print(f'Starting five nodes; logs in {stack.log_folder}', style='dim')
        with stack.wait_ready() as client:
            session = StackSession(client, config.of_task)
            with recording.of(session):
                ran = run_on_stack(task, session, output, config.wall_limit_s)
    return recording.add_to(ran)
