"""LIBERO and LIBERO-PRO: other people's tasks, played by the planners of bbllm."""
