"""Talk that asks for nothing: greetings, thanks, assent. Nothing moves for it."""

import re

GREETING, THANKS, PRAISE, FAREWELL, ASSENT, DISSENT, WITHDRAWAL = (
    *('greeting', 'thanks', 'praise', 'farewell', 'assent', 'dissent', 'withdrawal'),
)
_FORMS = {
    GREETING: r'(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|how are you)',
    THANKS: r'(?:thank you|thanks|thx|ty|cheers|much appreciated)',
    PRAISE: r'(?:well done|good(?: job| work)?|great(?: job| work)?|perfect|nice(?: work| one)?'
    r'|very good|excellent|cool|that is (?:right|good|it|fine|better)|correct)',
    FAREWELL: r'(?:bye|goodbye|bye bye|see you|good night)',
    ASSENT: r'(?:ok|okay|yes|yep|sure|fine|all right|alright|i see)',
    DISSENT: r'(?:no|nope|wrong|not (?:that|this|it)(?: one)?|that is (?:not right|wrong|not it))',
    WITHDRAWAL: r'(?:never ?mind|forget (?:it|that|about it)|cancel(?: that| it)?|nothing|none'
    r'|leave it(?: there)?|drop it all)',
}
_FILLERS = (
    r'(?:so|very|a|lot|much|there|robot|for|that|your|help|it|please|then|was|and|you|again)'
)
_PATTERNS = {
    kind: re.compile(rf'(?:{_FILLERS} )*{form}(?: {_FILLERS})*(?: {form}(?: {_FILLERS})*)*')
    for kind, form in _FORMS.items()
}
_ALL = re.compile('|'.join(f'(?:{pattern.pattern})' for pattern in _PATTERNS.values()))


def kind_of_talk(text: str) -> str:
    """Return what kind of talk a text is, of several the last; '' where a part of it is none."""
    parts = re.split(r'[.!?;,]', text.lower().replace("that's", 'that is'))
    kinds = [_kind(' '.join(re.findall(r'\w+', part))) for part in parts if part.strip()]
    return kinds[-1] if kinds and all(kinds) else ''


def _kind(words: str) -> str:
    return next((kind for kind, form in _PATTERNS.items() if form.fullmatch(words)), '')


def reply_to_talk(kind: str, hint: str) -> str:
    """Return a short sentence."""
    return {
        GREETING: f'Hello. {hint}',
        THANKS: 'You are welcome.',
        PRAISE: 'Thank you.',
        FAREWELL: 'Goodbye.',
        ASSENT: 'All right. Nothing waits for an answer.',
        DISSENT: "What is to be different? For example: 'the other one', 'on location_B', 'undo'.",
        WITHDRAWAL: 'All right. Nothing moves.',
    }[kind]
