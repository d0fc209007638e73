"""Parts of `mujoco_sim`."""
