"""Everything that this project raises on purpose; a skill that fails is an Outcome instead."""

import difflib
from collections.abc import Iterable


class BbllmError(Exception):
    """Base of all errors of this project; its text is fit for a person to read."""


class ConfigError(BbllmError):
    """A file, option or environment variable that cannot be used."""


class SceneFileError(ConfigError):
    """A scene file whose scene could not stand as it is described."""


class TaskError(BbllmError):
    """An instruction that cannot be taken on."""


class ApprovalError(BbllmError):
    """An answer without a request, or one that is not allowed; names what waits now."""


class UnknownNameError(BbllmError):
    """A planner, scene, skill or object that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f' Did you mean {close[0]!r}?' if close else ''
        listed = ', '.join(names) if names else 'none'
        super().__init__(f'There is no {kind} named {name[:80]!r}.{hint} Known: {listed}.')
        self.name = name
        self.nearest = close[0] if close else None


class ParseError(BbllmError):
    """
    Text from a model that its grammar does not accept; contains what it would accept.

    `fault` is the same without the form of a reply, which only its own model can use.
    """

    def __init__(self, fault: str, form: str = ''):
        super().__init__(f'{fault} {form}'.rstrip())
        self.fault = fault


class ModelError(BbllmError):
    """No usable reply from a language model."""


class ModelUnavailableError(ModelError):
    """Server down, time-out, cut stream or an error of the server's own."""


class ModelRefusedError(ModelError):
    """The server will not serve this request: key, quota or model name."""


class PromptTooLongError(ModelRefusedError):
    """The prompt is longer than the model's context; a shorter one may be answered."""


class NoImagesError(ModelRefusedError):
    """The model takes no images, or is not to be sent any."""


class ModelDeclinedError(ModelError):
    """The model itself, or a content filter of its server, declines to answer."""


class EndlessReplyError(ModelError):
    """The reply did not end within `max_tokens`."""


class BrokenPlanError(ModelError):
    """A reply went on otherwise than its steps that were already begun; names how."""


class ReplayError(ModelError):
    """The recording does not contain the conversation."""


class WorldError(BbllmError):
    """The robot or the simulator cannot go on."""


class SceneError(WorldError):
    """The scene is stale or empty, so nothing can be decided on it."""


class LostNodeError(WorldError):
    """A process that was needed has gone."""


class DuplicateNodeError(WorldError):
    """Two processes serve under the name of one node."""


class WrongRobotError(WorldError):
    """The robot is real and the node is made for a simulated one, or the reverse."""


class NeedsPersonError(WorldError):
    """The robot stays stopped until a person has seen to it; no plan can change that."""


class GaveUpError(BbllmError):
    """The planner reports that it cannot do the task, and why."""


class AskedError(BbllmError):
    """A reply that is a question to the person: the text is the question."""

    def __init__(self, text: str, options: Iterable[str] = ()):
        super().__init__(text)
        self.options = tuple(options)


class AnsweredError(BbllmError):
    """A reply that answers a question and plans nothing: the text is the answer."""


class WentInCirclesError(GaveUpError):
    """The planner asked for the same call in the same scene again and again; draws the circle."""


class NoGoalError(BbllmError):
    """A task has no goal that could be checked, and why."""


class SpokenError(BbllmError):
    """A request to a model was cut short, as the task has changed since."""


class BudgetError(BbllmError):
    """A limit of the episode was reached."""


class CancelledError(BbllmError):
    """A person or a program stopped the episode."""
