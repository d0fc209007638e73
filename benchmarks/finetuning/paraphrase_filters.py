"""
What a sentence must say, and must never say, to ask for a kind of task: patterns for lower case.

They hold what language models make up to its kind. Rather a good sentence more is refused than
one kept that asks for the opposite; what they do not find out is in docs/data.md.
"""

_ON = r'\b(on|onto|upon|atop|above|over)\b'
_UP = r'\b(on|onto|upon|atop|above|over|top|uppermost|highest)\b'
_DOWN = r'\b(bottom|below|beneath|under|underneath|base|lowest|first|support|carry)\b'
_FIXED = (
    r'\b(fixed|immovable|immobile|unmovable|stuck|bolted|glued|fast|stationary'
    r'|not (move|budge))\b'
)
_FREE = r'\b(moveable|movable|mobile|loose|free|moves|can (be moved|move)|others?)\b'
_PUT = r'\b(put|set|place|stack|pile|lay|move|bring|take|leave|push|carry|lift|pick|get)\b'
_THE = r'(the|a|any|some|that|whichever|each|every)'

ASKS = (
    rf'{_PUT}|\b(build|make|form|create|sort|arrange|send|grab|raise|hold|keep|let|should|must'
    r'|has to|have to|i want|choose|position|relocate|stand|balance|make sure)\b'
)
"""What makes a sentence ask for something."""
NEVER = (
    r'\bdo not\b(?! ((put|set|lay|place) it down|let it go|let go|drop it|release it|lower it'
    r'|weigh the same)\b)',
    r"n't\b|\b(never|neither|nor|no difference|less|least|avoid|refrain|instead|unless|except)\b",
    r'\b(undo|pretend|imagine|swap|unstack|rather|but|remove|break|knock|clear|destroy|topple)\b',
    r'\bfrom\b(?! (the (two|three)|both|all|heaviest|lightest)\b)',
    r'\b(off|away|apart|next to|beside|former|latter|lift (up )?the (stack|tower|pile))\b',
    r'(?<!tower )(?<!pile )(?<!stack )\bout of\b',
)
"""No kind asks for what these say: to leave it, to undo it, or for something else."""

WEIGHT = 'heav|light|weigh'
DIFFER = (
    r'\b(differ|unlike|unequal|no two|vary|varying|not( weigh)? the same|distinct)\b|different'
)
STUCK = rf'{_FIXED}|\b(cannot|moves|movable|moveable|mobile|loose)\b|can (be moved|move)'
LIFT = r'\b(pick|lift|take|hold|keep|raise|grasp|grab)\b'
STACKED = (
    r'\b(stack|pile)\b|\btower\b|\bon top\b'
    rf'|{_ON}( top of)? (it|(the |each |one |an)other|(the|a) (one|block|cube|heav|fixed|immov))'
)
CORNER = r'\bcorners?\b'
DIFFERENT = (
    r'\b(different|distinct|separate|own|no two|not both)\b|\bone (at|in|to|for|per) each\b'
)
EACH = r'\b(each|every|all|both|the (two |three )?(blocks|cubes))\b'
THREE = r'\bthree\b'
THREE_OR_ALL = r'\b(three|all|every|each)\b'
TWO_OF = r'\b(two|pair|any|one) of (the|these)\b'
FREE = _FREE
OTHERS = r'\b(others|other two|remaining|rest|those|movable ones)\b'
OTHERS_OR_ALL = rf'{OTHERS}|\b(all|every|both)\b'

HEAVIER = r'\bheav(y|ier)\b'
HEAVIEST = r'\bheaviest\b'
LIGHT_UP = (
    rf'\blight[^.,;]*{_ON}[^.,;]*\bheav'
    rf'|\bheav[^.;]*{_DOWN}|\blight[^.,;]*{_UP}'
    rf'|{_ON}( top of)? {_THE} heav[^.,;]*\blight'
    r'|\blighter than the one (below|under|beneath|it (stands|rests|sits) on)'
    r'|\b(nothing|no (block|cube)) (stands|rests|sits|lies|is) on a light'
)

NO_WEIGHT = 'heav|light|weigh'
NO_ORDER = r'heav|light|\bsort|\border|\bby (their )?weight|accord'
NO_SAME = r'^(?!.*\b(no two|not both|not)\b).*\bsame\b'
"""That they are alike or together; but `no two to the same one`."""
NO_STUCK = rf'{_FIXED}|\b(movable|moveable|mobile|loose|cannot)\b|can be moved'
NO_CORNER = r'\b(corner|edge|side|middle|cent(er|re)|row|line|left|right|floor)s?\b'
NO_TOWER = rf'\b(stack|pile|tower)|\bon top\b|{_ON}( top of)? (it|each|another|one|the other)\b'
NO_HAND = r'\b(hand|gripper|hold|keep|held)\b'
NO_DOWN = r'\bdown\b(?! on)'
NO_TABLE = rf'{_PUT}[^.;]*\bon the table\b'
NO_MIDDLE = r'\b(middle|cent(er|re)|stack|pile|tower|hand|gripper)\b'
NO_PART = (
    r'(?<!\bno )\b(one of|two of|any|either|only|just|single|(?<!one )another'
    r'|(a|one) (block|cube))\b'
)
NO_LIMIT = r'\b(either|only|just|single|another|one of the others?|one other)\b'
NO_SECOND = r'\b(towers|piles|stacks|twice)\b'
NO_TWO = r'(?<!\bno )\b(two|both|pair)\b'
NO_ALL = r'\b(all|every|each|both)\b'
NO_ALL_OF_THEM = (
    r'\b(all|every (block|cube)|each (block|cube)|both (of the |the )?(block|cube)s)\b'
)
NO_THIRD = rf'{_ON}( top of)? the (third|last|remaining)'
NO_LIGHT = 'light'
NO_FREE_ONE = r'\bone\b[^.;]*\bis (movable|moveable|loose|free)\b'
NO_OTHER_RANK = (
    r'\b(second|middle|medium|next|equally)\b|\bnot\b(?! (put|set|let|drop|release|lower)\b)'
)
NO_OTHER = r'(?<!heavier than the )\bothers?\b|\boutweigh|\b(below|beneath|under|above|behind)\b'
NO_SETTING_DOWN = (
    r'(?<!not )(?<!without )\b(put|set|lay|drop|release|lower|return|let go|stack|place|putting'
    r'|setting|throw|hand over|bring|move|carry)\b'
)
HEAVY_UP = (
    rf'\bheav(?!\w* than)(?:(?!\blight)[^.,;])*{_UP}',
    rf'\blight(?!\w* than)(?:(?!\bheav)[^.,;])*{_DOWN}',
    rf'^(?!.*\b(nothing|no (block|cube))\b).*{_ON}( top of)? {_THE} (one that is )?light',
    rf'^(?:(?!heav).)*{_DOWN}(?:(?!heav).)*\blight',
    r'^(?:(?!light).)*\btop\b(?! of)(?:(?!light).)*\bheav',
    r'\bheavier than the (one|block|cube) (below|under|beneath|it (stands|rests|sits) on)',
    r'\blighter than the (one|block|cube) (above|on)',
    r'\b(nothing|no (block|cube)) (stands|rests|sits|lies|is) on a heav',
)
"""Orders of heavy and light that stand on their heads."""
FIXED_MOVED = (
    rf'{_PUT}(?:(?!{_FREE}|{_ON}|\b(to|at|in)\b)[^.,;])*({_FIXED}|\bcannot\b)',
    rf'({_FIXED}|\bcannot\b)(?:(?!{_FREE})[^;])*\bit (in|at|to)\b',
    r'\b(is|are) (movable|moveable|loose|free)\b[^;]*\bothers?\b',
    r'\bothers?\b[^.;]*\b(stays?|remains?|alone|untouched)\b',
    r'\bwhere (it|they) (is|are|stands?)\b',
)
"""That what is fixed shall go somewhere."""
FIXED_UP = (
    rf'{_PUT}(?:(?!{_FREE}|{_ON})[^.,;])*({_FIXED}|\bcannot\b)',
    rf'({_FIXED}|\bcannot\b)(?:(?!{_FREE})[^;])*\bit {_ON}',
    rf'\b(movable|moveable|loose|free)\b(?:(?!{_FIXED}|\bcannot\b)[^;])*{_ON}( top of)? it\b',
    rf'\bis (movable|moveable|loose|free)\b(?:(?!{_FIXED}|\bcannot\b)[^;])*{_PUT} the other',
    rf'{_ON}( top of)? {_THE} (one that |one which |block that |cube that )?'
    r'(movable|moveable|loose|free|mobile|moves|can)',
    _DOWN,
)
"""That what is fixed shall be on top."""
