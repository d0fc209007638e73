"""Motion planning: grasps, joint and Cartesian paths, time parameterization, collision."""
