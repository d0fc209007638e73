"""Checks of `bbllm doctor`."""
