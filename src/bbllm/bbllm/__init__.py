"""Tell a robot arm in plain words what to do: a Brain model plans, a Body model acts."""

__version__ = '0.1.0'
