"""The safety rules that parameters of `fr3_executor` stand for."""

from bbllm.arm.envelope import SafetyEnvelope, load_envelope
from bbllm.ros.rclpy_support.params import Fr3ExecutorParams
from bbllm.skills.constraints import split_constraints


def envelope_of(params: Fr3ExecutorParams) -> SafetyEnvelope:
    """Return the rules of the safety file, and what the parameters add; raises ConfigError."""
    never, keep_out = map(split_constraints, (params.never, params.keep_out))
    return load_envelope(params.safety).stricter(never, keep_out)
