"""The plus sign of `bbllm demo`, built by unmodified libfranka on the table that is served."""

from bbllm import Robot
from bbllm.core.approval import ApprovalRequest
from bbllm.core.events import Ending, RepairBegun
from bbllm_bench.commands.demo import SCENE, TASK
from bbllm_bench.scorers.patterns import check_plus
from tests.fci.conftest import free_address, serving

EDGE_M = 0.04
SPEED = 0.9
"""Nearly real time, or as fast as the machine is; below 1 the robot waits for its client."""


def test_real_libfranka_builds_the_plus_sign_with_two_repairs() -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    address = free_address()
    with (
        serving(address, '--scene', SCENE, '--speed', f'{SPEED:g}') as table,
        Robot(
            'fr3',
            ip=address,
            scene=SCENE,
            simulated_robot=True,
            approve=approve,
            brain='offline',
            body='offline',
            safety='safety',
            rehearse=False,  # which would find the cubes that are out of reach
        ) as robot,
    ):
        episode = robot.do(TASK)
        poses = table.objects()

    assert episode.ending is Ending.FINISHED, episode.message
    # By the physics itself: where the driver believes the cubes to be proves nothing.
    cubes = {name: pose for name, pose in poses.items() if name.endswith('_cube')}
    reason, fit = check_plus(cubes, EDGE_M)
    assert not reason
    assert fit is not None and len(fit.names) == 5
    repairs = [event.data for event in episode.events if isinstance(event.data, RepairBegun)]
    assert [repair.text for repair in repairs] == ['pick aqua_cube', 'pick white_cube']
    assert episode.feedback_loops == 2
    assert [request.revision for request in asked] == [0, 1, 2]
