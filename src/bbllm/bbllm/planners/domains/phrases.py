"""Phrases for the names of skills that are no words."""

from collections.abc import Mapping

PHRASES: Mapping[str, str] = {
    **{'walk': 'walk to {}', 'run': 'run to {}', 'sit': 'sit on {}', 'standup': 'stand up'},
    **{'switchon': 'switch on {}', 'switchoff': 'switch off {}', 'lookat': 'look at {}'},
    **{'turnto': 'turn to {}', 'pointat': 'point at {}', 'place': 'place it at {}'},
    **{'putin': 'put {} in {}', 'putback': 'put {} back on {}'},
    'grab_and_putin': 'grab {} and put it in {}',
    'reach': 'move the hand over {}',
}
"""Phrases for actions whose name and objects in a row are no sentence."""
