"""The conversation of one episode: the opening, then each call with its result."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bbllm.planning import (
    CalledTool,
    Message,
    PromptRequest,
    Tool,
    ToolCall,
    most_tokens,
)


@dataclass
class Conversation:
    """
    All calls with their results, or the newest of them where the model's context is too short.

    Of too many it leaves out the older half at a time, so that in between each prompt begins with
    the one before, which a server can cache.
    """

    opening: Callable[[int], Sequence[Message]]
    """Returns what stands before the calls, given how many of them are left out."""
    tools: Sequence[Tool]
    n_calls: int = 0
    n_left_out: int = 0
    _turns: list[list[Message]] = field(default_factory=list)
    """For each call that is kept: the call, its result, and what was said after it."""
    _said: list[Message] = field(default_factory=list)
    """What was said before the first call that is kept."""

    def add_call(self, called: CalledTool, result: str, picture: tuple[bytes, ...] = ()) -> None:
        """Add a call and its result; a picture comes in a message of its own, as servers want."""
        self.n_calls += 1
        # Nine letters and digits: some servers accept no other form.
        call = replace(called.call, id=f'call{self.n_calls:05d}')
        turn = [
            Message('assistant', called.text, calls=(_sendable(call),)),
            Message('tool', result, call_id=call.id),
        ]
        if picture:
            self._without_pictures()
            turn.append(Message('user', 'The scene after this call.', images=picture))
        self._turns.append(turn)

    def add_words(self, text: str) -> None:
        """Add what a person or a program has said."""
        (self._turns[-1] if self._turns else self._said).append(Message('user', text))

    def messages(self, request: PromptRequest, limit_tokens: int | None) -> list[Message]:
        """Return the messages to send, the last of which declares what is asked for."""
        found = self._messages()
        while (
            limit_tokens is not None and len(self._turns) > 1 and self._size(found) > limit_tokens
        ):
            n = (len(self._turns) + 1) // 2
            self.n_left_out += n
            del self._turns[:n]
            found = self._messages()
        return [*found[:-1], replace(found[-1], request=request)]

    def _messages(self) -> list[Message]:
        turns = [message for turn in self._turns for message in turn]
        return [*self.opening(self.n_left_out), *self._said, *turns]

    def _size(self, messages: Sequence[Message]) -> int:
        return sum(most_tokens(text) for text in (*map(str, self.tools), *map(str, messages)))

    def _without_pictures(self) -> None:
        """Leave only the newest picture in the conversation."""
        for turn in self._turns:
            turn[:] = [message for message in turn if not message.images]


def _sendable(call: ToolCall) -> ToolCall:
    """Return a call whose arguments are JSON, which servers demand of calls that were made."""
    try:
        good = isinstance(json.loads(call.arguments or '{}'), dict)
    except (ValueError, RecursionError):
        good = False
    return (
        replace(call, arguments=call.arguments or '{}') if good else replace(call, arguments='{}')
    )
