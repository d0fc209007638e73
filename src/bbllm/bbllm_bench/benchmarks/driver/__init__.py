"""A driver over libfranka against servers of the robot's network protocol that others wrote."""
