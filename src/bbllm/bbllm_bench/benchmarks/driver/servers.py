"""The servers of the robot's protocol that faults happen on: one of others, and our table."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

import yaml

from bbllm.core.paths import config_files
from bbllm_bench.benchmarks.driver.lossy_link import Losses, LossyLink
from bbllm_fci.process import TableProcess
from bbllm_franka.simulated_server import FrankaSim, franka_sim

FRANKA_SIM, TABLE = 'franka-sim', 'up fci'
"""Their names in reports."""
OBJECT_M = 0.04
"""Width of what is always between the fingers of franka-sim [m]."""
FRANKA_SIM_IP, PROXY_IP, TABLE_IP = '127.0.41.1', '127.0.41.2', '127.0.41.3'
"""Loopback addresses of franka-sim, of the proxy before it, and of the table."""
SCENE = 'tabletop'
SPEED = 0.5
"""Share of real time at which the table is served; below 1 a busy machine loses no packets."""
TALL = 'red_cube'
HEIGHT_M = 0.16
"""How high the red cube is where it is not as in the scene of a client: the palm hits it [m]."""


class FrankaSimServer:
    """franka-sim, with a proxy before it that loses packets."""

    name = FRANKA_SIM
    address = PROXY_IP

    def __init__(self, stack: ExitStack, seed: int) -> None:
        self._servers = stack.enter_context(ExitStack())
        self._serve()
        self.link = stack.enter_context(LossyLink(FRANKA_SIM_IP, PROXY_IP, seed=seed))

    def _serve(self) -> None:
        self._server: FrankaSim = self._servers.enter_context(
            franka_sim(FRANKA_SIM_IP, object_width_m=OBJECT_M)
        )

    def fastest_rad_s(self) -> float:
        """Return the speed of the fastest joint, by the physics [rad/s]."""
        return self._server.fastest_rad_s()

    def lose(self, losses: Losses) -> None:
        self.link.losses = losses

    def restart(self) -> None:
        """Kill the server, as a power cut does, and start it again."""
        self._server.process.kill()
        self._server.process.wait()
        self._servers.close()
        self.link.cut()
        self._serve()


class TableServer:
    """Our simulated table, whose own faults happen by its lines."""

    name = TABLE
    address = TABLE_IP

    def __init__(self, stack: ExitStack, *, tall: bool = False) -> None:
        """With *tall* the red cube is a post, bolted to the table, that no client knows of."""
        scene: str | Path = SCENE
        if tall:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            scene = _with_post(folder / 'with_post.yaml')
        self.table = stack.enter_context(
            TableProcess(TABLE_IP, '--scene', str(scene), '--speed', f'{SPEED:g}')
        )

    def fastest_rad_s(self) -> float:
        """Return the speed of the fastest joint, by the physics [rad/s]."""
        return self.table.arm().fastest_rad_s


Server = FrankaSimServer | TableServer


def _with_post(path: Path) -> Path:
    """Write the scene of the clients with a post in place of the red cube."""
    scene = yaml.safe_load(config_files('scenes/*.yaml')[SCENE].read_text('utf-8'))
    cube = next(item for item in scene['objects'] if item['name'] == TALL)
    x, y = cube.pop('xy')
    cube |= {'xyz': [x, y, HEIGHT_M / 2], 'size': [OBJECT_M, OBJECT_M, HEIGHT_M], 'fixed': True}
    path.write_text(yaml.safe_dump(scene), 'utf-8')
    return path
