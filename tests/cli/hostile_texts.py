"""Texts that try to steer the terminal which prints them."""

from __future__ import annotations

import random

PIECES = (
    *('\x1b[2J', '\x1b[1A\x1b[2K\r', '\x1b]0;title\x07', '\x1b]8;;http://x\x1b\\'),
    *('\x1b[31m', '\x1bc', '\x1b[?25l'),
    *('\x9b2J', '\x9d0;t\x9c', '\x85', '\x08\x08\x08', '\r', '\x07', '\x00', '\x7f', '\x1b'),
    *('\u202e', '\u202a', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c', '\u2028', '\u2029'),
    *('\u200b', '\u200d', '\u200c', '\ufeff', '\xad', '\u3164', '\ufe0f', '\ud83d', '\U000e0061'),
    *('[bold]', '[/]', '[/bold]', '[link=http://x]', '[red on red]', '\\[', ':boom:'),
    *('\n', '\n  1: place red_cube', '\t', '      ', '\x0b', '\x0c', '\x1c'),
    *('pick ', 'red_cube', 'röd', '红色方块', 'مكعب', '👩\u200d🚀', '❤\ufe0f', 'x' * 90),
)  # fmt: skip


def hostile_texts(count: int, seed: int = 0) -> list[str]:
    """Return texts of up to eight pieces, with now and then a character of any kind."""
    dice = random.Random(seed)
    return [
        ''.join(
            chr(dice.randrange(0x110000)) if dice.random() < 0.1 else dice.choice(PIECES)
            for _ in range(dice.randint(1, 8))
        )
        + '.'
        for _ in range(count)
    ]
