"""
Words that planners put into the past in a prompt, and that are looked for in it again.

`planners.ft_history` writes them, `llm.expert` and `bench.data` read them back.
"""

FAILED = 'Failed: '
"""Stands behind the words of a round whose last action failed, before the reason."""
IN_SHORT = 'In short: '
"""Stands behind the words of a round, before what of its actions is told in short."""


def unmarked(words: str) -> str:
    """Return words that somebody said, so that no mark is read out of them."""
    for mark in (FAILED, IN_SHORT):
        words = words.replace(mark, f'{mark[0].lower()}{mark[1:]}')
    return words
