"""Keeps keys and passwords out of every text that leaves the model clients."""

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

HIDDEN = '[hidden]'

# What providers' keys look like: a short prefix, then many characters without a space. Servers
# echo them whole or with asterisks in the middle.
_KEY_SHAPES = re.compile(
    r'\b(?:(?:sk|pk|rk|hf|gsk|xai|nvapi|glpat|gh[oprsu]|github_pat|xox[abprs])[-_]|AIza)'
    r'[A-Za-z0-9*_\-.]{8,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b'
)
# Words may follow `Basic`, as in "Basic shapes"; base64 has digits, capitals or `=`.
_BEARER = re.compile(
    r'\b(Bearer|Basic(?=\s+[^\s\'",}]{8})(?=\s+(?-i:[^\s\'",}]*[A-Z\d=])))\s+[^\s\'",}]+',
    re.IGNORECASE,
)
_LOGIN = re.compile(r'(://)[^/\s@]+@')
_RANDOM = re.compile(r'[A-Za-z0-9_\-+=.]{32,}')
_SHORT = 8
SECRET_NAMES = re.compile(
    r'(^|_)(api-?key|key|token|secret|password|passwd|passphrase|authorization|bearer)$', re.I
)
"""What the names of variables and settings end with whose values are secrets."""
_SURELY = 16
"""From how many characters on a value counts as a secret for the name of its variable alone; a
shorter one may be a word of a task."""
_LABELLED = re.compile(
    r'-----BEGIN [A-Z ]*PRIVATE KEY-----'
    r'|\bbearer\s+(?=\S*\d)[A-Za-z0-9._~+/=\-]{20,}',
    re.IGNORECASE,
)
"""What is a key by the words around it."""
_TOKEN = re.compile(r'[A-Za-z0-9_\-+=.]+')
_NUMBER_INSIDE = re.compile(r'(?<=[A-Za-z])\d+(?=[A-Za-z])')
_IN_USE: set[str] = set()


def is_key_like(text: str) -> bool:
    """
    Whether a value from a file could be a key; in doubt, it is one.

    Text with spaces, slashes or colons is none unless a known shape of keys is part of it.
    """
    stripped = text.strip()
    if _KEY_SHAPES.search(stripped) or _BEARER.search(stripped):
        return True
    if not _RANDOM.fullmatch(stripped):
        return False
    return any(char.isdigit() for char in stripped) and any(char.isalpha() for char in stripped)


def note_secrets(secrets: Iterable[str]) -> None:
    """Remember keys and passwords that this process uses, for `key_fault`."""
    _IN_USE.update(secret for secret in secrets if len(secret) >= _SHORT)


def key_fault(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """
    Name what of a person's text is a key, or surely looks like one, without repeating it.

    Empty where nothing is. Known are the keys that this process uses for models, and the values
    of variables with the name of a secret. Names of objects and ordinary words never look like
    keys: they have no numbers within their words.
    """
    for name, value in environ.items():
        value = value.strip()
        least = _SHORT if _KEY_SHAPES.match(value) else _SURELY
        if (
            len(value) >= least
            and SECRET_NAMES.search(name)
            and Redactor([value]).hide_known(text) != text
        ):
            return f'the value of the environment variable {name}'
    if Redactor(_IN_USE).hide_known(text) != text:
        return 'a key or password that is in use for a model'
    if _LABELLED.search(text) or any(map(_is_key, _TOKEN.findall(text))):
        return 'a word with the form of a key'
    return ''


def _is_key(word: str) -> bool:
    """Whether a word without spaces is surely a key, by its prefix or as random text."""
    if shape := _KEY_SHAPES.search(word):
        key = shape[0]
        n_digits = sum(char.isdigit() for char in key)
        return len(key) >= _SURELY and (n_digits >= 4 or (n_digits > 0 and key != key.lower()))
    return len(word) >= 32 and len(_NUMBER_INSIDE.findall(word)) >= 3


class Redactor:
    """Replaces known secrets, and what has the shape of one, by `[hidden]`."""

    def __init__(self, secrets: Iterable[str] = ()):
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        # The longest first, so that no form is broken up by one that it contains.
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._pattern = _any_of(self._forms)
        self._long_pattern = _any_of(form for form in self._forms if len(form) >= _SHORT)

    def hide_known(self, text: str) -> str:
        """Replace long secrets only: a short one may be the word that a model has to reply."""
        return self._long_pattern.sub(HIDDEN, text) if self._long_pattern else text

    def hide(self, text: str) -> str:
        """Replace the secrets and everything of their shape; for errors and logs."""
        text = self._pattern.sub(HIDDEN, text) if self._pattern else text
        text = _LOGIN.sub(rf'\1{HIDDEN}@', text)
        text = _BEARER.sub(rf'\1 {HIDDEN}', text)
        return _KEY_SHAPES.sub(HIDDEN, text)


def _forms(secret: str) -> set[str]:
    """Return a secret as it may be spelled in URLs, JSON, `repr` and basic authentication."""
    return {
        secret,
        quote(secret, safe=''),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        base64.b64encode(secret.encode()).decode(),
    }


def _any_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    # A short secret, such as the `EMPTY` that local servers want, only counts as a whole word.
    patterns = [
        re.escape(form) if len(form) >= _SHORT else rf'(?<!\w){re.escape(form)}(?!\w)'
        for form in forms
    ]
    return re.compile('|'.join(patterns)) if patterns else None
