"""
What a task asks for, in the benchmark's words.

Tasks of LIBERO are asked for in the words of their file names (its lifelong/evaluate.py). A
perturbed task of LIBERO-PRO keeps the file name of the task that it changes; its own sentence is
in the file, and is what the runner of LIBERO-PRO sends to a policy (its evaluation/runner.py).
"""

from collections.abc import Sequence

OF_LIBERO = ('libero_spatial', 'libero_object', 'libero_goal', 'libero_10', 'libero_90')


def sentence(suite: str, of_file_name: str, of_file: Sequence[str]) -> str:
    """Return the sentence of a task, from the words of its file's name and those in the file."""
    words = of_file_name.split() if suite.lower() in OF_LIBERO else of_file
    return ' '.join(words)
