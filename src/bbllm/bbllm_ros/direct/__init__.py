"""Parts of `franka_direct`."""
