"""A conversation of twenty lines with a scripted model, for every surface that has one."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bbllm.testing import Handler, replies

TABLE = {
    **{f'{color}_cube': (0.4, 0.1 * i) for i, color in enumerate(('red', 'blue', 'green'))},
    **{f'location_{letter}': (0.6, 0.1 * i) for i, letter in enumerate('ABCDE')},
}
"""Where the objects of the conversation are on a table of symbols [m]."""
Messages = list[Mapping[str, Any]]
Reply = str | Callable[[str], str]


@dataclass(frozen=True)
class Line:
    """What the person writes, what the model replies to it, and what comes of it."""

    text: str
    reply: Reply
    """Or what makes it of the prompt."""
    ending: str = 'ANSWERED'
    """'' where the line does not end a turn."""
    says: str = ''
    """What the report at the end has."""
    then: str = ''
    """The reply once a question was answered."""


def moved(name: str, place: str) -> str:
    return f'0: pick({name})\n1: place({place})\n2: return_to_base()\n3: Done'


def back(name: str) -> Callable[[str], str]:
    """Return what puts an object where the turn before took it from, as the prompt has it."""

    def reply(prompt: str) -> str:
        found = re.findall(rf'{name} from (\S+ \S+ \S+) on table(?:, yaw \S+)? to', prompt)
        return moved(name, found[-1])

    return reply


def quote(prompt: str) -> str:
    """Answer with the turns that the prompt has."""
    turns = re.findall(r'^"(.+?)" \| ', prompt, re.MULTILINE)
    return f'answer: Before this: {"; ".join(turns)} (earlier turns).'


LINES = (
    Line('hello', 'answer: Hello.', says='Hello.'),
    Line(
        'which cubes are there?', 'answer: red_cube and more (they are listed).', says='red_cube'
    ),
    Line('put the red cube on location_A', moved('red_cube', 'location_A'), 'FINISHED', 'Done.'),
    Line('put it back', back('red_cube'), 'FINISHED', 'Done.'),
    Line(
        'put a cube on location_B',
        'ask: Which cube? | red_cube | blue_cube',
        '',
        then=moved('blue_cube', 'location_B'),
    ),
    Line('2', '', 'FINISHED', 'Done.'),
    Line('no, take it away again', back('blue_cube'), 'FINISHED', 'Done.'),
    Line('what did I ask for?', quote, says='no, take it away again'),
    Line('fly to the moon', 'cannot: no action flies.', 'GAVE_UP', 'no action flies'),
    Line('why not?', 'answer: No action flies (the list of actions).', says='No action flies'),
    Line('هل هناك مكعب أحمر؟', 'answer: نعم، red_cube.', says='نعم'),
    Line('is anything in your hand?', 'answer: No (nothing is held).', says='No'),
    Line(
        'put the green cube on location_C, and how many locations are left?',
        f'{moved("green_cube", "location_C")}\nanswer: Several (they are listed).',
        'FINISHED',
        'Several',
    ),
    Line(
        'put one more where it is free',
        f'{moved("red_cube", "location_D")}\nassumed: location_D is meant',
        'FINISHED',
        'Assumed: location_D is meant.',
    ),
    Line(
        'put both away and paint them',
        f'{moved("red_cube", "location_E")}\ncannot: nothing paints',
        'PARTLY_DONE',
        'nothing paints',
    ),
    Line('did you paint them?', 'answer: No, nothing paints (earlier turn).', says='No, nothing'),
    Line('stack something', 'ask: On what?', '', then='cannot: the moon is out of reach.'),
    Line('on the moon', '', 'GAVE_UP', 'the moon is out of reach'),
    Line('which is the heaviest cube?', 'answer: I do not know.', says='I do not know.'),
    Line('thank you', 'answer: You are welcome.', says='You are welcome.'),
)


def reply_to(messages: Messages) -> str:
    """Return the reply of the script to a conversation with a model."""
    last = str(messages[-1]['content'])
    prompts = [str(each['content']) for each in messages if each['role'] == 'user']
    task = re.findall(r'^Task: (.*)$', prompts[0], re.MULTILINE)[-1]
    line = next(line for line in LINES if line.text == task)
    if last.startswith('The person answered'):
        return line.then
    return line.reply if isinstance(line.reply, str) else line.reply(prompts[0])


def scripted(handler: Handler, body: dict[str, Any]) -> None:
    """Answer a request to a `ModelServer` as the script wants."""
    replies(reply_to(body['messages']))(handler, body)
