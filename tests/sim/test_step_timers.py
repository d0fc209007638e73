import subprocess
import sys

STEPS = """
import mujoco
from bbllm.scene.scene_file import load_scene
from bbllm.sim.simulation import Simulation
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody/></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_step(model, data, nstep=1000)
before = data.timer[0].duration
simulation = Simulation(load_scene('plus_sign'))
simulation.step(100)
print(before > 0.0, simulation.data.timer[0].duration == 0.0)
"""


def test_the_steps_of_a_simulation_read_no_clock() -> None:
    done = subprocess.run(
        [sys.executable, '-c', STEPS], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ['True', 'True'], done.stderr
