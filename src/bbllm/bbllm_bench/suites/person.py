"""The person of a case: what was said before, a script that answers, and whether it was asked."""

import re
from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import Field

from bbllm.core.events import Event, QuestionAsked
from bbllm.core.types import SkillCall
from bbllm.files.yaml_files import FileRecord

Words = Annotated[str, Field(min_length=2, max_length=600)]
Asking = Literal['', 'needed', 'needless', 'harmless']
"""Whether a planner has to ask how the task is meant: it has to, as a wrong reading matters; the
scene or an earlier turn settles it; any choice serves. '' where that is not measured."""
NEEDED: Asking = 'needed'


class Person(FileRecord):
    """A scripted person, who gives the task and answers what a planner asks."""

    ask: Asking = ''
    means: tuple[str, ...] = ()
    """Names of what is meant where the task leaves it open, by which an option is chosen."""
    says: Words = 'I have nothing to add.'
    """The reading that is meant, in a sentence; the answer where no option is it."""
    turns: tuple[Words, ...] = ()
    """Earlier turns as prompts have them, oldest first (core.conversation)."""

    def answer(self, question: QuestionAsked, instruction: str, names: Collection[str]) -> str:
        """
        Return the answer to a question: the one option that names what is meant, or the sentence.

        An option that names anything of the scene (*names*) that neither is meant nor stands in
        the *instruction* is another reading. So is one of two that would do.
        """
        allowed = {*self.means, *_named(instruction, names)}
        fitting = [
            option
            for option in question.options
            if (found := _named(option, names)) & {*self.means} and found <= allowed
        ]
        return fitting[0] if len(fitting) == 1 else self.says

    def asked(self, events: Iterable[Event]) -> bool | None:
        """
        Return whether a planner asked; where it had to, before the first call to the world.

        None where that is not measured.
        """
        if not self.ask:
            return None
        for event in events:
            if isinstance(event.data, QuestionAsked):
                return True
            if isinstance(event.data, SkillCall) and self.ask == NEEDED:
                return False
        return False


def _named(text: str, names: Collection[str]) -> set[str]:
    """Return which names a text has, written with an underscore or a space."""
    words = f' {" ".join(re.findall("[a-z0-9]+", text.lower()))} '
    return {name for name in names if f' {name.lower().replace("_", " ")} ' in words}
