"""
What a client of franka_ros2 can rely on, as checks that can be pointed at any driver.

A client that speaks only the driver's own interfaces runs them: against `mujoco_sim`, which has
to pass them all, and against a real arm. `bbllm bench driver` is the way in; the list stands in
docs/driver-checks.md.
"""
