"""Colour words of scenes as colours of a screen."""

from typing import Final

HEX: Final[dict[str, str]] = {
    'red': '#d6423b', 'crimson': '#b3193f', 'scarlet': '#e2331f', 'maroon': '#7d2230',
    'salmon': '#f08a78', 'coral': '#f2714f', 'rose': '#e5668c', 'pink': '#ee8fb0',
    'magenta': '#c93a9a', 'orange': '#ee8a2b', 'amber': '#f2ad2e', 'yellow': '#f2cf3f',
    'gold': '#d9ad2b', 'lime': '#9fd146', 'green': '#45a35a', 'olive': '#87893a',
    'teal': '#1f8a87', 'aqua': '#43c6cf', 'cyan': '#35bfd8', 'turquoise': '#3cc8b4',
    'azure': '#5aa5ee', 'blue': '#3a6fd0', 'navy': '#27407f', 'indigo': '#4b3fa5',
    'violet': '#9166d6', 'purple': '#7d47b0', 'lavender': '#b9a7e6', 'brown': '#8d5d3a',
    'beige': '#e3d5b5', 'tan': '#cfae82', 'burlywood': '#dcbf95', 'white': '#fbfbf9',
    'silver': '#c3c8cd', 'grey': '#8e959c', 'gray': '#8e959c', 'black': '#2e3236',
}  # fmt: skip

UNKNOWN = '#b0aca4'


def color_of(word: str) -> str:
    """
    Return the colour that a word means; of `dark red` or `light blue`, the last word's.

    Colours of CSS that are not listed here are those of CSS.
    """
    parts = word.lower().replace('-', ' ').replace('_', ' ').split()
    for part in reversed(parts):
        if part in HEX:
            return HEX[part]
    # Here, so that known colours cost no library of pictures.
    from PIL import ImageColor

    try:
        red, green, blue = ImageColor.getrgb(''.join(parts))[:3]
    except ValueError:
        return UNKNOWN
    return f'#{red:02x}{green:02x}{blue:02x}'


def mix(one: str, other: str, share: float) -> str:
    """Return a colour between two; *share* 0 is the first, 1 the second."""
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    return '#' + ''.join(f'{round(a + (b - a) * share):02x}' for a, b in pairs)


def edge_of(color: str) -> str:
    """Return a colour for the outline of something of that colour, seen on a bright ground."""
    return mix(color, '#1b1e22', 0.45)
