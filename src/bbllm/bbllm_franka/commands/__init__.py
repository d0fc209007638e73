"""Verbs of the command line for a robot over libfranka, one module each."""

VERBS = {
    'home': 'Home the Franka Hand at an address, once you have approved it: it closes and opens.',
}
"""Help lines of the verbs, for the entry point of the group `bbllm.commands`."""
