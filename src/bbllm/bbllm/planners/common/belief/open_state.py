"""
Beliefs about objects beyond what scenes contain: the interface of estimators, and their grammar.

Source: Chen et al., LLM-State, section IV-B: objects with attributes in plain words, and a summary
of what has happened. In scenes they are estimated facts.

    belief     := {adverb} (comparison | known | saying)
    comparison := WORDer_than NAME | more_WORD_than NAME | less_WORD_than NAME | as_WORD_as NAME
    known      := on | off | plugged_in | plugged_out | out_of_workspace
    saying     := WORD {WORD} [NUMBER [times]]

Beliefs never overwrite, contradict or repeat a sensed fact, and are about objects of the scene
only. A WORD of a saying must not be about where an object is, how it lies, or whether it exists
and can be seen or reached; it must not name an object of the scene, or its kind (`cube` of
red_cube). design/open-state.md gives the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

from bbllm.core.types import Fact, Outcome, Scene
from bbllm.planners.domains.scene_graph import is_open, sensed_only


@dataclass(frozen=True, slots=True)
class OpenState:
    """The relevant objects with their attributes; immutable."""

    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attributes such as `warm` by the object's name in the scene, in order of addition."""
    summary: str = ''
    """What has happened so far and why steps failed; may be empty."""

    def with_objects(self, names: Iterable[str]) -> OpenState:
        """Add objects without attributes; those already present stay unchanged."""
        new = {name: self.attributes.get(name, ()) for name in names}
        return OpenState({**self.attributes, **new}, self.summary)

    def with_attributes(self, name: str, words: Sequence[str]) -> OpenState:
        return OpenState({**self.attributes, name: tuple(words)}, self.summary)

    def blank(self) -> OpenState:
        """Remove all attributes and the summary, and keep the objects."""
        return OpenState(dict.fromkeys(self.attributes, ()))


class OpenStateEstimator(Protocol):
    """Derives beliefs about objects from the actions so far."""

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        """
        Return the current beliefs about all objects of `state`, and possibly others of the scene.

        The history has all outcomes, oldest first. An estimator that starts anew each time, as the
        paper's does, reads only the objects of `state`. It may raise ModelError and ParseError.
        """
        ...


LONGEST = 60
"""Maximum length of an attribute [characters]."""
MOST_WORDS = 12
"""Only the first attributes of an object become facts."""

OPPOSITES = (('open', 'closed'), ('on', 'off'), ('clean', 'dirty'), ('plugged_in', 'plugged_out'))
"""States that exclude each other."""


def open_facts(state: OpenState, scene: Scene) -> tuple[Fact, ...]:
    """Return the beliefs about objects of a scene that sensing does not rule out, as facts."""
    names = frozenset(scene.names)
    sensed = [fact for fact in scene.facts if not is_open(fact)]
    facts: dict[Fact, None] = {}
    for name, words in state.attributes.items():
        if name not in names:
            continue
        for word in words[:MOST_WORDS]:
            fact = _fact(name, word, names)
            if fact is not None and not any(_rules_out(known, fact) for known in sensed):
                facts[fact] = None
    return tuple(facts)


def malformed_beliefs(state: OpenState, scene: Scene) -> list[tuple[str, str]]:
    """Return objects of a scene with attributes that are no belief; see `open_facts`."""
    names = frozenset(scene.names)
    return [
        (name, word)
        for name, words in state.attributes.items()
        for i, word in enumerate(words)
        if name in names and (i >= MOST_WORDS or _fact(name, word, names) is None)
    ]


def with_open_facts(scene: Scene, state: OpenState) -> Scene:
    return replace(scene, facts=(*sensed_only(scene).facts, *open_facts(state, scene)))


def _fact(name: str, text: str, names: frozenset[str]) -> Fact | None:
    found = read_belief(text, names) if len(text) <= LONGEST else None
    if found is None or found[1] == name:
        return None
    return Fact(name, *found, estimated=True)


def _rules_out(known: Fact, believed: Fact) -> bool:
    """Return whether a sensed fact equals a belief, is its opposite or excludes it."""
    if known.subject != believed.subject:
        return False
    if believed.predicate != 'is':
        return known.predicate == believed.predicate
    sensed, word = ('_'.join(core(text)) for text in (known.object, believed.object))
    if (known.predicate, known.object) == ('reachable', 'yes'):
        return word == 'out_of_workspace'
    # Both words of a pair are ruled out, so that a `not` before one of them has no effect.
    return known.predicate == 'is' and (
        sensed == word or any(sensed in pair and word in pair for pair in OPPOSITES)
    )


_ADVERBS = """
is was are be being has been now still currently not no longer isn t already fully completely
partly the a an bit very quite rather slightly somewhat so probably maybe perhaps possibly
apparently seems feels looks appears turned switched sitting standing lying resting located placed
stacked left
"""
ADVERBS = frozenset(_ADVERBS.split())
"""Words that may precede an attribute, and are none alone."""
KNOWN = frozenset(
    {('on',), ('off',), ('plugged', 'in'), ('plugged', 'out'), ('out', 'of', 'workspace')}
)
"""Attributes with prepositions that are about no place beside the object itself."""
_PLACE_WORDS = """
on in inside at under underneath below beneath above over near nearby beside besides behind
between within outside into onto upon by from off out of to toward towards with without against
along across around through among amid past beyond atop down up next close far away here there
closer nearer farther further higher lower elsewhere somewhere nowhere anywhere everywhere left
right free freed clear cleared front back top bottom middle center centre corner edge apart
together alone alongside sideways leftmost rightmost topmost undermost aside ahead home opposite
astride side north south east west upstairs downstairs indoors something anything thing things
object objects item items robot arm wall shelf table tabletop floor ground hand gripper fingers
workspace room position location place pose spot area where it its this that these those what
which who all other another same than as
"""
PLACE_WORDS = frozenset(_PLACE_WORDS.split())
"""Prepositions and adverbs of place, their nouns, and words that may stand for an object."""
STEMS = re.compile(
    # Whether it exists, what it carries, whether it is accessible.
    r'(reach|unreach|access|inaccess|visib|invisib|unseen|hid(den|es?|ing)|locat|held|hold|grasped'
    r'|carr(y|i)|los[ei]|lost|gone|missing|disappear|vanish|absent|present|exist|occup|unoccup'
    r'|vacant|empt|block|obstruct|cover|uncover|detect|observ|look|nowhere'
    # How it lies, or its neighbours.
    r'|upright|tilt|toppl|tipped|fallen|upside|touch|adjac|adjoin|lean|rest(s|ed|ing)|hang|hung'
    r'|stack|pil(ed?|es|ing)|plac|lying|l(ies?|ay|aid)\Z|stand|stood|sit|sat\Z|airborne|float'
    r'|align|neighbo|surround|enclos|contain|support|overlap|fac(e|es|ed|ing)\Z'
    r'|border|flank|straddl|accompan|proxim|vicin|distan'
    # Whole words with their endings: spotless, removable and seedy are none of them.
    r'|(see[ns]?|saw|seeing|spot(s|ted|ting)?|find(s|ing)?|found|remov(e|es|ed|ing))\Z)'
)
"""Beginnings of words on whether an object exists, what it carries, how it lies, and whether it is
visible or accessible."""
FASTENED = 'glued|screwed|bolted|nailed|taped|clamped|fixed|fastened|stuck|strapped|weighed'
JUDGED = (
    'hard|easy|difficult|impossible|safe|unsafe|ready|unable|able|likely|prone|needs?|needed'
    '|tends?|seems?|failed|fails?|refuses?|requires?'
)
BESIDE = re.compile(
    rf'({FASTENED}) (down|together)|(rolls|slides|slips) away|(tips|flips|rolls) over|slips out'
    rf'|(be|being) (grasped|held)|({JUDGED}|too [a-z]+) to'
)
"""Two or three words that are not about a place though one of them alone would be."""
COUNTS = frozenset({'before', 'once', 'twice', 'thrice', 'again', 'times'})
"""Words of frequency, which are no attribute alone."""
MOST = 5
"""Maximum number of words of a saying, without its number; more are a thought."""

WRITTEN = re.compile(r"[A-Za-z0-9\s_'-]+")
"""The letters of a belief; words of other scripts cannot be checked."""
REFUSED = (
    f'That is no belief: up to {MOST} words on how it is or what was tried, such as `sticky`, '
    '`cannot be lifted` or `grasp failed twice`, or `heavier_than` a thing; nothing on where it '
    'is, how it lies to others, and whether it is seen or within reach.'
)
"""Why words are refused, for the model."""


def read_belief(text: str, names: Collection[str]) -> tuple[str, str] | None:
    """Return predicate and object of a belief about objects with these names, None if none."""
    written = text.split()
    matter = _without_adverbs(written)
    relation, _, other = '_'.join(matter).rpartition('_than_')
    if relation and other in names:
        matter = [f'{relation}_than', other]
    if len(matter) == 2 and matter[1] in names:
        return (matter[0].lower(), matter[1]) if is_comparison(matter[0]) else None
    tokens = core(text)
    known = tokens in KNOWN
    if not known and (_names_one(tokens, names) or not _is_phrase(_tokens(text))):
        return None
    return ('is', '_'.join(written)) if WRITTEN.fullmatch(text) else None


def core(text: str) -> tuple[str, ...]:
    """Return the words of an attribute in lower case, without preceding adverbs."""
    return tuple(_without_adverbs(_tokens(text)))


def is_comparison(predicate: str) -> bool:
    """Return whether a predicate compares two objects: `heavier_than`, `more_sticky_than`."""
    match predicate.lower().split('_'):
        case [word, 'than']:
            return word.endswith('er') and _is_plain(word)
        case ['more' | 'less', word, 'than'] | ['as', word, 'as']:
            return _is_plain(word)
    return False


def _is_phrase(tokens: Sequence[str]) -> bool:
    words = BESIDE.sub('well', ' '.join(tokens)).split()
    if words[-1:] == ['times'] and words[-2:-1] and words[-2].isdecimal():
        del words[-2:]
    elif words[1:] and words[-1].isdecimal():
        del words[-1]
    words = _without_adverbs(words)
    if len(words) > MOST or all(word in ADVERBS | COUNTS for word in words):
        return False
    return all(map(_is_plain, words))


def _is_plain(word: str) -> bool:
    return word.isalpha() and word not in PLACE_WORDS and not STEMS.match(word)


def _names_one(tokens: Sequence[str], names: Collection[str]) -> bool:
    words = f' {" ".join(tokens)} '
    return any(f' {called} ' in words for name in names for called in _called(name))


@lru_cache(maxsize=4096)  # all objects of some houses; a scene asks for each of its names again
def _called(name: str) -> tuple[str, ...]:
    """Return the words of a name, and its kind: `cube` of red_cube_2."""
    words = _tokens(name)
    kinds = [kind for word in words if len(kind := word.rstrip('0123456789')) > 2]
    return (' '.join(words), *(form for kind in kinds[-1:] for form in (kind, f'{kind}s')))


def _without_adverbs(words: Sequence[str]) -> list[str]:
    words = list(words)
    while len(words) > 1 and words[0].lower() in ADVERBS:
        del words[0]
    return words


def _tokens(text: str) -> list[str]:
    return [word for word in re.split(r'[\W_]+', text.lower()) if word]
