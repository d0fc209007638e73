"""The commands of `bbllm calibrate`."""
