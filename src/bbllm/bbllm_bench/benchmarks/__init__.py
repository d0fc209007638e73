"""Engineering benchmarks of the arm, the nodes and the household: verbs of `bbllm bench`."""
