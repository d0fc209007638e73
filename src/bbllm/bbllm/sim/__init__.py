"""The FR3 on a table in MuJoCo, with the semantics of the real driver."""
