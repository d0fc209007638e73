"""Optional packages: the one sentence on how to install what an extra of setup.cfg has."""


def how_to_install(extra: str) -> str:
    """
    Return the commands that install an extra, without a full stop.

    They install from a clone: the name bbllm on a package index is not this project.
    """
    return f"in a clone of the repository: make extras, or pip install '.[{extra}]'"
