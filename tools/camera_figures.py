"""
Measure the simulated cameras: what they see from where, and what a picture costs.

    python tools/camera_figures.py [--ros]

Prints, for places of the camera over the table, the shares of the table that it sees with the arm
in its ready posture, how much of the table a pixel covers, and the noise of the depth there; and
for sizes and qualities of pictures the processor time, of this process and of the one that draws,
and the time that passes. Processor times are the same on a busy machine; the others are not.

With --ros it prints what `mujoco_sim` needs with and without a subscriber to both pictures of the
camera over the table, how many of them arrive, and how fast simulated time passes meanwhile.
"""

import math
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.core.types import Pose
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.sim.camera_noise import depth_noise_m, noisy_colors, noisy_depth
from bbllm.sim.camera_settings import TABLE_CAMERA, CameraSettings, d435, pitched
from bbllm.sim.cameras import SimCameras
from bbllm.sim.simulation import Simulation

REACH_M = 0.86
BASE_M = 0.3
"""Nothing is drawn nearer to the robot's axis than this by the generator of tables [m]."""
LEAST_X_M, MOST_X_M, MOST_Y_M = 0.12, 1.13, 0.78
"""Where centres of objects are on the table of 1.4 x 1.6 m [m]."""
MARGIN_PX = 10
PICTURES = 40
RATE_HZ = 15.0
NODE_S = 20.0
"""How long `mujoco_sim` is watched [s]."""


@dataclass(frozen=True)
class Place:
    """A size of pictures, and where the camera is over the table."""

    size_px: tuple[int, int]
    x_m: float
    z_m: float
    pitch_deg: float


PLACES = (
    Place((640, 480), 0.62, 1.40, 90.0),
    Place((640, 480), 0.62, 1.60, 90.0),
    Place((848, 480), 0.62, 1.40, 90.0),
    Place((848, 480), 0.75, 1.40, 95.0),
    Place((848, 480), 0.75, 1.30, 95.0),
    Place((848, 480), 0.85, 1.40, 100.0),
    Place((848, 480), 1.00, 1.40, 110.0),
    Place((1280, 720), 0.75, 1.40, 95.0),
)


def seen_from(simulation: Simulation, place: Place) -> str:
    pose = Pose(
        position_m=(place.x_m, -0.015, place.z_m),
        quat_xyzw=pitched(math.radians(place.pitch_deg)),
    )
    settings = replace(
        d435(*place.size_px),
        subpixel_px=0.0,
        depth_step_m=1e-6,
        edge_m=0.0,
        mounts=(replace(TABLE_CAMERA, T_parent_link=pose),),
    )
    with SimCameras(simulation, settings) as cameras:
        image, T_world_camera = cameras.take('table_camera'), cameras.pose('table_camera')
    x, y = np.mgrid[LEAST_X_M:MOST_X_M:0.01, -MOST_Y_M:MOST_Y_M:0.01].reshape(2, -1)
    points = np.stack([x, y, np.zeros_like(x)], axis=1) - T_world_camera.position_m
    a, b, z = Rotation.from_quat(T_world_camera.quat_xyzw).inv().apply(points).T
    (width, height), k = place.size_px, image.intrinsics
    u, v = k.fx_px * a / z + k.cx_px, k.fy_px * b / z + k.cy_px
    inside = (np.minimum(u, width - 1 - u) >= MARGIN_PX) & (
        np.minimum(v, height - 1 - v) >= MARGIN_PX
    )
    row, column = (np.clip(np.rint(w), 0, n - 1).astype(int) for w, n in ((v, height), (u, width)))
    visible = inside & (np.abs(image.depth_m[row, column] - z) < 0.02)
    r = np.hypot(x, y)
    within, beyond = visible[(r > BASE_M) & (r < REACH_M)], visible[r >= REACH_M]
    noise = [depth_noise_m(float(d), d435(*place.size_px)) * 1e3 for d in (z.min(), z.max())]
    footprint = [float(d) / k.fx_px * 1e3 for d in (z.min(), z.max())]
    return (
        f'{width} x {height} | {place.x_m:.2f}, {place.z_m:.2f}, {place.pitch_deg:.0f} | '
        f'{within.mean():.1%} | {beyond.mean():.1%} | {footprint[0]:.1f} to {footprint[1]:.1f} | '
        f'{noise[0]:.1f} to {noise[1]:.1f}'
    )


def cost_of(simulation: Simulation, settings: CameraSettings) -> str:
    walls_s = []
    with SimCameras(simulation, settings) as cameras:
        cameras.take('table_camera')
        assert cameras.pid is not None
        own_s, drawing_s = time.process_time(), processor_s(cameras.pid)
        for _ in range(PICTURES):
            wall_s = time.perf_counter()
            cameras.take('table_camera')
            walls_s.append(time.perf_counter() - wall_s)
        own_s = (time.process_time() - own_s) / PICTURES
        drawing_s = (processor_s(cameras.pid) - drawing_s) / PICTURES
    return (
        f'{settings.width_px} x {settings.height_px} | {settings.samples} | '
        f'{"yes" if settings.shadows else "no"} | {drawing_s * 1e3:.0f} | {own_s * 1e3:.0f} | '
        f'{statistics.median(walls_s) * 1e3:.0f} | {(drawing_s + own_s) * RATE_HZ:.0%}'
    )


def processor_s(pid: int) -> float:
    """Return the processor time that a process has used, all its threads, in steps of 10 ms."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def noise_cost(settings: CameraSettings) -> str:
    dice = np.random.default_rng(1)
    depth = np.full((settings.height_px, settings.width_px), 1.4, np.float32)
    colors = np.full((*depth.shape, 3), 128, np.uint8)
    times = [
        _own_ms(lambda: noisy_depth(depth, settings, dice)),
        _own_ms(lambda: noisy_colors(colors, settings, dice)),
    ]
    return f'{settings.width_px} x {settings.height_px} | {times[0]:.1f} | {times[1]:.1f}'


def _own_ms(call: Callable[[], object]) -> float:
    call()
    begun_s = time.process_time()
    for _ in range(PICTURES):
        call()
    return (time.process_time() - begun_s) / PICTURES * 1e3


def node_costs() -> None:
    """Run `mujoco_sim` and subscribe as a detector does."""
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import Image, JointState

    from bbllm_ros.convert.records import stamp_from_msg

    namespace = '/camera_figures'
    command = [sys.executable, '-m', 'bbllm_ros.nodes.mujoco_sim', '--ros-args']
    words = ['-r', f'__ns:={namespace}', '-p', 'scene:=plus_sign']
    rclpy.init()
    node = rclpy.create_node('camera_figures', namespace=namespace)
    stamps: list[float] = []
    ticks: list[float] = []

    def receive(message: Image) -> None:
        stamps.append(stamp_from_msg(message.header.stamp))

    def tick(message: JointState) -> None:
        ticks.append(stamp_from_msg(message.header.stamp))

    def spin(until: Callable[[], bool], what: str) -> None:
        until_s = time.monotonic() + 60.0
        while not until():
            if time.monotonic() > until_s:
                raise SystemExit(f'No {what} within 60 s.')
            rclpy.spin_once(node, timeout_sec=0.1)

    print(
        'speed | subscribed | pictures a second | simulated s per s | processor time | of drawing'
    )
    topics = [f'table_camera/{each}/image_raw' for each in ('color', 'aligned_depth_to_color')]
    for speed in (1.0, 20.0):
        with subprocess.Popen([*command, *words, '-p', f'speed:={speed}']) as process:
            try:
                spin(lambda: node.count_publishers(topics[0]) > 0, 'publisher')
                clock = node.create_subscription(JointState, 'franka/joint_states', tick, 1)
                print(f'{speed:g} | no | {watched(process.pid, spin, stamps, ticks)}')
                pictures = [
                    node.create_subscription(Image, topic, receive, qos_profile_sensor_data)
                    for topic in topics
                ]
                spin(lambda: len(stamps) > RATE_HZ, 'pictures')
                print(f'{speed:g} | yes | {watched(process.pid, spin, stamps, ticks)}')
                for subscription in (clock, *pictures):
                    node.destroy_subscription(subscription)
            finally:
                process.terminate()
    rclpy.shutdown()


def watched(
    pid: int,
    spin: Callable[[Callable[[], bool], str], None],
    stamps: list[float],
    ticks: list[float],
) -> str:
    """Return pictures, simulated time and processor time of a while."""
    parts = [pid, *drawing_processes(pid)]
    stamps.clear()
    ticks.clear()
    begun_s, before_s = time.monotonic(), [processor_s(part) for part in parts]
    spin(lambda: time.monotonic() > begun_s + NODE_S, 'time')
    passed_s = time.monotonic() - begun_s
    used = [(processor_s(part) - s) / passed_s for part, s in zip(parts, before_s, strict=True)]
    both = sum(count == 2 for count in Counter(stamps).values()) / passed_s
    rate = (ticks[-1] - ticks[0]) / passed_s
    return f'{both:.1f} | {rate:.1f} | ' + ' | '.join(f'{share:.0%}' for share in used)


def drawing_processes(parent: int) -> list[int]:
    """Return the children of a process."""
    tasks = Path(f'/proc/{parent}/task').glob('*/children')
    return [int(word) for task in tasks for word in task.read_text().split()]


def main() -> None:
    if '--ros' in sys.argv[1:]:
        node_costs()
        return
    simulation = Simulation(load_scene('plus_sign'))
    empty = Simulation(make_scene({'tables': [{'xy': [0.45, 0.0], 'size': [1.4, 1.6]}]}))
    print('size | x, z [m], pitch [deg] | within reach | beyond | mm per pixel | noise [mm]')
    for place in PLACES:
        print(seen_from(empty, place))
    print('\nsize | noise of depth [ms] | of colours [ms]')
    for size_px in ((640, 480), (848, 480), (1280, 720)):
        print(noise_cost(d435(*size_px)))
    print(f'\nsize | samples | shadows | drawing [ms] | own [ms] | wall [ms] | at {RATE_HZ:g} Hz')
    print(f'(processor time but for wall; {os.cpu_count()} cores)')
    for size_px in ((640, 480), (848, 480), (1280, 720)):
        print(cost_of(simulation, d435(*size_px)))
    for change in ({'samples': 4}, {'shadows': True}):
        print(cost_of(simulation, replace(d435(), **change)))


if __name__ == '__main__':
    main()
