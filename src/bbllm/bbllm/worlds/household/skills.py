"""VirtualHome's actions as skills, with one line each for a prompt."""

from __future__ import annotations

from bbllm.core.types import Skill
from bbllm.worlds.household.vocabulary import Action

SUMMARIES = {
    Action.CLOSE: 'Close something that is open.',
    Action.CUT: 'Cut food, with a knife in one hand and the other hand free.',
    Action.DRINK: 'Drink from what is held.',
    Action.DROP: 'Let what is held fall where you are.',
    Action.EAT: 'Eat food that is close.',
    Action.FIND: 'Go to something and look for it.',
    Action.GRAB: 'Take something that is close into a free hand; there are two hands.',
    Action.GREET: 'Greet a person.',
    Action.LIE: 'Lie down on something that is close.',
    Action.LOOKAT: 'Look at something that you are turned to.',
    Action.LOOKAT_LONG: 'Look at something for long.',
    Action.LOOKAT_SHORT: 'Have a short look at something.',
    Action.MOVE: 'Move something that can be moved.',
    Action.OPEN: 'Open something that is closed; one hand has to be free.',
    Action.PLUGIN: 'Put the plug of a device in.',
    Action.PLUGOUT: 'Pull the plug of a device.',
    Action.POINTAT: 'Point at something that you are turned to.',
    Action.POUR: 'Pour what is held into something that is close.',
    Action.PULL: 'Pull something that can be moved.',
    Action.PUSH: 'Push something.',
    Action.PUTBACK: 'Put what is held on something that is close.',
    Action.PUTIN: 'Put what is held into something that is close and not closed.',
    Action.PUTOBJBACK: 'Put what is held where it was taken from.',
    Action.PUTOFF: 'Take off clothes that you wear.',
    Action.PUTON: 'Put on clothes that are held.',
    Action.READ: 'Read what is held.',
    Action.RELEASE: 'Let go of what is held.',
    Action.RINSE: 'Rinse something that is close.',
    Action.RUN: 'Run to something, or into a room.',
    Action.SCRUB: 'Scrub something that is close.',
    Action.SIT: 'Sit down on something that is close.',
    Action.SLEEP: 'Sleep, sitting or lying.',
    Action.SQUEEZE: 'Squeeze something that is close.',
    Action.STANDUP: 'Stand up.',
    Action.SWITCHOFF: 'Switch off a device that is on.',
    Action.SWITCHON: 'Switch on a device that is off.',
    Action.TOUCH: 'Touch something that is close.',
    Action.TURNTO: 'Turn to something.',
    Action.TYPE: 'Type on something that is close.',
    Action.WAKEUP: 'Wake up.',
    Action.WALK: 'Walk to something, or into a room.',
    Action.WASH: 'Wash something that is close.',
    Action.WATCH: 'Watch something that you are turned to.',
    Action.WIPE: 'Wipe something that is close, with something in a hand.',
}
_PARAMS: tuple[tuple[str, ...], ...] = ((), ('object',), ('object', 'place'))

SKILLS = tuple(Skill(action.skill, _PARAMS[action.arity], SUMMARIES[action]) for action in Action)
"""All actions; not `target`, which a table's skills also take as a pose."""
