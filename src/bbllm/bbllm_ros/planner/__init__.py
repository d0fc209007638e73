"""Parts of `brain_planner`."""
