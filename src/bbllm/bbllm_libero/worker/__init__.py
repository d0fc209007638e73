"""The process in the benchmark's own environment; it imports nothing of bbllm but this folder."""
