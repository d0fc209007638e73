"""The words that `offline` knows, by what they do in a sentence."""

from __future__ import annotations

_NUMBERS = 'zero one two three four five six seven eight nine ten'
NUMBERS = {word: number for number, word in enumerate(_NUMBERS.split())}

HUES = {
    'red': 0, 'crimson': 348, 'scarlet': 8, 'maroon': 0, 'salmon': 12, 'coral': 16, 'brown': 25,
    'orange': 30, 'amber': 45, 'gold': 50, 'yellow': 60, 'olive': 62, 'lime': 90, 'green': 120,
    'mint': 150, 'turquoise': 174, 'teal': 178, 'aqua': 180, 'cyan': 180, 'azure': 210,
    'blue': 240, 'navy': 241, 'indigo': 262, 'violet': 275, 'purple': 290, 'lavender': 292,
    'magenta': 300, 'pink': 335, 'rose': 340, 'ruby': 350, 'cherry': 352, 'tomato': 9,
    'vermilion': 10, 'burgundy': 345, 'tan': 34, 'burlywood': 34,
}  # fmt: skip
"""Colour words and where they lie on the colour circle [deg]."""
SPECTRUM_END = 320
"""Hues from here on are shades of red, with which the visible spectrum begins [deg]."""
GREYS = frozenset({'white', 'black', 'grey', 'gray', 'silver', 'beige', 'ivory'})
COLORS = frozenset(HUES) | GREYS
FAMILIES = {
    'red': 'red crimson scarlet maroon salmon coral pink rose ruby cherry tomato vermilion '
    'burgundy',
    'blue': 'blue aqua cyan azure navy turquoise teal indigo',
    'green': 'green lime mint olive teal turquoise',
    'yellow': 'yellow gold amber',
    'orange': 'orange amber coral',
    'purple': 'purple violet lavender magenta indigo',
    'pink': 'pink rose salmon magenta',
    'brown': 'brown tan burlywood',
    'grey': 'grey gray silver',
    'white': 'white ivory beige',
    'black': 'black',
}
"""What `reddish` and the like take in."""
ISH = {f'{family}ish': family for family in FAMILIES} | {
    'reddish': 'red', 'bluish': 'blue', 'orangish': 'orange', 'purplish': 'purple',
    'grayish': 'grey', 'whitish': 'white',
}  # fmt: skip

KIND_NOUNS = {
    'cube': 'cube', 'cubes': 'cube', 'block': 'cube', 'blocks': 'cube', 'box': 'cube',
    'boxes': 'cube', 'brick': 'cube', 'bricks': 'cube',
    'cylinder': 'cylinder', 'cylinders': 'cylinder', 'tube': 'cylinder', 'tubes': 'cylinder',
    'can': 'cylinder', 'cans': 'cylinder',
    'location': 'location', 'locations': 'location', 'spot': 'location', 'spots': 'location',
    'position': 'location', 'positions': 'location',
}  # fmt: skip
ANY_NOUNS = frozenset({
    'object', 'objects', 'thing', 'things', 'item', 'items', 'everything', 'anything', 'one',
    'ones', 'piece', 'pieces',
})  # fmt: skip
PLURALS = frozenset(
    {word for word in KIND_NOUNS if word.endswith('s')}
    | {'objects', 'things', 'items', 'everything', 'ones', 'pieces'}
)
NOUNS = frozenset(KIND_NOUNS) | ANY_NOUNS
SIDE_NOUNS = frozenset({'side', 'sides', 'half', 'halves', 'part', 'parts', 'end', 'ends'})
PRONOUNS = frozenset({'it', 'them', 'that', 'those', 'these', 'this'})
ARTICLES = frozenset({'the', 'of', 'its', 'their', 'your', 'my', 'same'})
ALL = frozenset({'all', 'every', 'each', 'everything', 'remaining'})
A = frozenset({'a', 'an', 'any', 'another', 'anything', 'single', 'some'})
FREE = frozenset({'free', 'empty', 'available', 'unoccupied', 'other', 'different', 'new'})
EXCEPT = frozenset({'except', 'without', 'excluding'})

PICK = frozenset({'pick', 'grasp', 'grab', 'hold', 'lift', 'seize'})
PUT = frozenset({
    'put', 'place', 'move', 'bring', 'set', 'carry', 'take', 'transfer', 'shift', 'slide', 'get',
    'relocate', 'drop', 'lay', 'deposit', 'transport', 'position', 'deliver', 'return',
    'rearrange',
})  # fmt: skip
STACK = frozenset({'stack', 'pile'})
MAKE = frozenset({
    'make', 'create', 'build', 'form', 'arrange', 'construct', 'draw', 'use', 'assemble', 'order',
    'organize', 'organise', 'sort', 'align', 'line', 'lay', 'spell', 'shape', 'produce', 'compose',
    'distribute', 'rearrange', 'group',
})  # fmt: skip
SPLIT = frozenset({'separate', 'segregate', 'divide', 'split', 'partition'})
REACH = frozenset({'reach', 'hover', 'point'})
GRIPPER = frozenset({'open', 'close', 'release', 'let'})
WAIT = frozenset({'wait', 'pause'})
MODALS = frozenset({'should', 'shall', 'must', 'to', 'can', 'will', 'that', 'they'})
VERBS = PICK | PUT | STACK | MAKE | SPLIT | REACH | GRIPPER | WAIT | {'go'}
NEGATIONS = frozenset({'not', 'never', 'dont', 'nothing', 'no', 'none'})
APART = frozenset({'apart', 'opposite', 'different', 'separate', 'own', 'another', 'other'})
STAYING = frozenset({'leave', 'keep', 'stay', 'stays', 'remain', 'remains', 'untouched', 'alone'})
DISTURBING = frozenset(
    {'move', 'moves', 'moved', 'touch', 'touched', 'disturb', 'shift', 'change'}
)
REST = frozenset({'else', 'other', 'others', 'rest', 'remaining'})
STARTERS = VERBS | {'leave', 'keep', 'do', 'dont', 'never', 'nothing', 'none'}
"""Words with which a clause may begin after `and` or a comma."""

SHAPES = {
    'plus': 'plus', 'cross': 'plus', 'triangle': 'triangle', 'square': 'square', 'l': 'L',
    'column': 'column', 'vertical': 'column', 'row': 'row', 'line': 'row', 'rainbow': 'row',
    'tower': 'tower', 'stack': 'tower', 'pile': 'tower',
}  # fmt: skip
"""Shape words, the more telling first."""
COLOR_WORDS = frozenset({
    'color', 'colors', 'colour', 'colours', 'spectrum', 'rainbow', 'hue', 'hues',
})  # fmt: skip
SHAPE_TALK = frozenset({
    'sign', 'shape', 'shapes', 'shaped', 'symbol', 'letter', 'capital', 'horizontal', 'form',
    'figure', 'using', 'from', 'out', 'made', 'ordering', 'ordered', 'sorting', 'sorted',
    'arranged', 'arranging', 'based', 'by', 'sequence', 'order', 'visible', 'according', 'center',
    'centre', 'middle', 'geometric', 'their', 'there', 'so', 'up', 'straight', 'like', 'as',
    'consists', 'intersecting', 'angle', 'which', 'is', 'with', 'them', 'it', 'type', 'kind',
    'types', 'kinds', 'letters', 'figures', 'pattern', 'patterns', 'geometry', 'geometrical',
    'central', 'centered', 'centred', 'across', 'along', 'bar', 'bars', 'stroke', 'strokes',
    'foot', 'long', 'short', 'lines', 'perpendicular', 'meeting', 'meet', 'meets', 'crossing',
    'crosses', 'joined', 'joining', 'resemble', 'resembles', 'look', 'looks', 'appear', 'such',
    'way', 'are', 'around', 'surrounding', 'big', 'large', 'small', 'neat', 'simple', 'proper',
    'single', 'arrangement', 'formation', 'configuration', 'composed', 'consisting',
    'formed', 'forming', 'built', 'lined', 'grouped', 'separated', 'segregated', 'divided',
    'following', 'follow', 'follows', 'starting', 'beginning', 'begin', 'begins', 'ending', 'ends',
    'leftmost', 'rightmost', 'respectively', 'upright', 'corner', 'arms', 'reverse', 'reversed',
    'whose', 'being', 'laid', 'placed', 'rows',
})  # fmt: skip
SHARING = frozenset({
    'sides', 'halves', 'parts', 'ends', 'exactly', 'precisely', 'own', 'unique', 'distinct',
    'individual', 'opposite', 'either', 'contain', 'contains', 'has', 'holds', 'share', 'shares',
    'shared', 'mix', 'mixed', 'assign', 'assigned', 'give', 'given', 'gets', 'occupy', 'occupies',
    'located', 'between', 'among', 'within', 'where', 'they', 'nor', 'separately', 'well',
    'ensure', 'sure', 'ended', 'belong', 'shall', 'currently', 'already', 'equal', 'amount',
    'number', 'per', 'were', 'was', 'receive', 'receives',
})  # fmt: skip
"""Words about what belongs to which side."""
PLACES = frozenset({
    'table', 'workspace', 'working', 'work', 'space', 'environment', 'scene', 'area', 'side',
    'part', 'half', 'hand', 'place', 'tabletop', 'end', 'right', 'left', 'base', 'home', 'start',
    'gripper', 'fingers', 'finger', 'somewhere', 'anywhere', 'else', 'aside', 'down',
    'robot', 'arm', 'region', 'zone', 'surface', 'desk',
})  # fmt: skip
PREPOSITIONS = frozenset({
    'on', 'onto', 'to', 'at', 'in', 'into', 'over', 'upon', 'above', 'top', 'next', 'beside',
    'near', 'inside', 'towards', 'toward', 'from', 'with', 'by', 'atop',
})  # fmt: skip
LEADING = frozenset({
    'please', 'kindly', 'now', 'ok', 'okay', 'hey', 'hello', 'hi', 'dear', 'robot', 'can', 'could',
    'would', 'will', 'you', 'i', 'we', 'want', 'wish', 'need', 'like', "i'd", "let's", 'lets',
    'us', 'to', 'and', 'also', 'first', 'finally', 'then', 'just', 'have', 'd', 'may', 'should',
    'start', 'by', 'afterwards', 'after', 'next', 'lastly', 'so', 'but', 'me', 'for',
})  # fmt: skip
"""Politeness and sequence words, left out where a clause begins."""
ANYWHERE = frozenset({
    'please', 'kindly', 'carefully', 'gently', 'slowly', 'quickly', 'only', 'just', 'again',
    'back', 'directly', 'safely', 'me', 'also', 'together', 'up',
})  # fmt: skip
"""Words that change nothing, left out everywhere."""
TRAILING = frozenset({'please', ',', 'and', 'now'})
"""Politeness and what is left of a list, left out where a clause ends."""
UNITS = frozenset({
    'second', 'seconds', 'sec', 'secs', 's', 'm', 'x', 'y', 'z', 'yaw', 'degrees', 'moment',
    'minute',
})  # fmt: skip
JOINING = frozenset({
    'and', 'then', 'or', 'both', 'should', 'be', 'goes', 'belongs', 'sit', 'sits', 'stand', 'must',
    'needs', 'has', 'do', "don't", 'dont', 'not', 'never', 'avoid', 'skip', 'instead', 'rather',
    'than', 'leave', 'keep', 'off',
})  # fmt: skip

VOCABULARY = (
    frozenset(NUMBERS) | COLORS | frozenset(ISH) | NOUNS | PRONOUNS | ARTICLES | ALL | A | FREE
    | EXCEPT | VERBS | frozenset(SHAPES) | COLOR_WORDS | SHAPE_TALK | PLACES | PREPOSITIONS
    | LEADING | ANYWHERE | UNITS | JOINING | SHARING | NEGATIONS | STAYING | DISTURBING | REST
    | APART
)  # fmt: skip

HINT = (
    "What works: 'put the red cube on location_B', 'stack the cubes', "
    "'move all cylinders to the left side', 'create a plus sign using the cubes'."
)
"""Ends every refusal, so that it says what would have worked."""
