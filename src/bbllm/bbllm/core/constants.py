"""Numbers and ROS namespaces, which several rooms share."""

import re
from enum import StrEnum
from typing import NoReturn

from bbllm.core.errors import ConfigError, UnknownNameError

GRAVITY_M_S2 = 9.81
"""Standard gravity as in MuJoCo [m/s^2]."""
SAME_S = 1e-6
"""Times that differ by less are equal, because floats and messages round them [s]."""

MAX_STEPS = 200
"""A plan has at most so many steps: longer ones come from models that repeat themselves, and no
person reads them."""
MAX_STEP_LENGTH = 300
"""Maximum length of the text of a step [characters]."""


NAMESPACE = 'bbllm'
"""Where the names of a simulation lie by default."""
REAL_NAMESPACE = 'bbllm_real'
"""Where those of a real arm lie: another place, so that neither answers the other's goals."""
MAX_LENGTH = 100
"""Topics and actions add up to 60 characters, and DDS allows 255."""
_TOKEN = r'[A-Za-z](?:_?[A-Za-z0-9])*_?'
_NAMESPACE = re.compile(rf'{_TOKEN}(?:/{_TOKEN})*')


def checked_namespace(text: str) -> str:
    """Return a namespace without slashes around it; raises ConfigError for an invalid one."""
    name = text.strip('/')
    if len(name) > MAX_LENGTH or not _NAMESPACE.fullmatch(name):
        raise ConfigError(
            f'{text[:80]!r} is no namespace: it takes letters, digits and single underscores, '
            f'begins with a letter, and may have parts with / between them, as in {NAMESPACE} '
            f'or lab/left_arm; {MAX_LENGTH} characters at most.'
        )
    return name


class OptionWord(StrEnum):
    """A word that an option takes; a look-up of another one raises UnknownNameError."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        kind = re.sub(r'\B([A-Z])', r' \1', cls.__name__).lower()
        raise UnknownNameError(kind, str(value), [word.value for word in cls])


SLOW = 'safety_slow'
"""The safety envelope of a real arm where nobody chooses another one."""
REHEARSAL_SAMPLES = 3
"""In how many simulations a plan is rehearsed where no number is given."""
NO_EXPERIENCE, EXPERIENCE = 'no', 'yes'
"""Nothing of earlier episodes is shown; or what is in the file of this user."""
