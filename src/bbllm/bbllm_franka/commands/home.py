"""`bbllm home`: homes the hand of a robot over libfranka."""

import time
from dataclasses import replace

from bbllm.api.config import RobotAddress
from bbllm.api.local_session import ANSWER_S
from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import flag
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.views.output import Output
from bbllm.cli.views.question import ask, can_ask
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.errors import ConfigError


def home(
    *,
    config: RobotAddress,
    yes: bool = flag('Approve it; simulated robots only.', '-y'),
    json: JsonOption = False,
) -> None:
    """
    Home the Franka Hand at an address, once you have approved it: it closes and opens.

    A hand that was switched on, or whose fingers were changed, reports wrong
    widths until it is homed. Nothing may be between its fingers. Ctrl-C stops
    it. Over ROS, the action `franka_gripper/homing` does the same.

    Examples:
      bbllm home --ip 172.16.0.2
      bbllm home --ip 127.0.0.2 --simulated-robot --yes
    """
    from bbllm_franka.homing import home_hand

    output = Output(json)
    if not config.ip:
        raise ConfigError(
            'Where is the robot? State the address of its control: bbllm home --ip 172.16.0.2.'
        )
    if yes and not config.simulated_robot:
        raise ConfigError('--yes is for a simulated robot; for a real one a person approves.')
    if not (yes or can_ask(output)):
        raise ConfigError('A hand moves after a person has approved: start this in a terminal.')

    def approve(request: ApprovalRequest) -> Answer:
        if yes:
            return Answer(granted=True, by='--yes', automatic=True)
        request = replace(request, since_s=time.time(), timeout_s=ANSWER_S)
        answer = ask(request, output, lambda: not counter.count)
        return answer or Answer(granted=False, reason='there was no answer')

    with interrupts() as counter:
        width_m = home_hand(
            config.ip,
            approve,
            simulated_robot=config.simulated_robot,
            is_cut=lambda: counter.count > 0,
        )
    output.print(f'The hand is homed; its widest opening is {width_m * 1e3:.1f} mm.', 'green')
    output.result({'max_width_m': width_m})
