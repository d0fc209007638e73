"""
bbllm and Robo Use, a benchmark whose agents drive a robot over a socket, in both directions.

Two environments import this package, since their versions of MuJoCo differ. `harness` and
`backend` are for that of Robo Use and import nothing of bbllm; all other modules are for that of
bbllm and import nothing of Robo Use.
"""
