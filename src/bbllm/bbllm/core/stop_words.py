"""Words that stop the robot at once, without a model."""

import re

STOP_WORDS = frozenset(
    (
        *('stop', 'halt', 'abort', 'freeze', 'stop it', 'stop now', 'emergency stop'),
        *('please stop', 'stop please', 'stop moving', 'stop the robot', 'stop the arm'),
        *('stopp', 'anhalten', 'alto', 'para', 'detente', 'arrête', 'arrete', 'arrêtez', 'ferma'),
    )
)
"""What a person writes or calls out; the languages are English, German, Spanish, French, Italian.
"""


def is_stop(text: str) -> bool:
    """
    Return whether a text is nothing but a word that stops, however often it is repeated.

    In a sentence such a word may mean something else, as `para` does in Spanish.
    """
    words = re.findall(r'\w+', text.lower())
    if not words:
        return False
    return ' '.join(words) in STOP_WORDS or all(word in STOP_WORDS for word in words)
