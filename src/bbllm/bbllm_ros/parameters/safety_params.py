"""The safety rules that parameters of `fr3_executor` stand for."""

from bbllm.arm.envelope import SafetyEnvelope, load_envelope
from bbllm.skills.constraints import split_constraints
from bbllm_ros.rclpy_support.params import Fr3ExecutorParams

NAMES = ('safety', 'never', 'keep_out')
"""The parameters, in the order of the arguments of `envelope_from`."""


def envelope_of(params: Fr3ExecutorParams) -> SafetyEnvelope:
    """Return the rules of the safety file, and what the parameters add; raises ConfigError."""
    return envelope_from(params.safety, params.never, params.keep_out)


def envelope_from(safety: str, never: str, keep_out: str) -> SafetyEnvelope:
    """Return the same for the values of the parameters; raises ConfigError."""
    return load_envelope(safety).stricter(split_constraints(never), split_constraints(keep_out))
