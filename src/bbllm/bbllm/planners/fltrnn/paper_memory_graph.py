"""The memory graph as FLTRNN's published program has it, to compare with what the paper means."""

from __future__ import annotations

from bbllm.core.types import SkillCall
from bbllm.planners.fltrnn.memory_graph import ARITY, MemoryGraph


class PaperMemoryGraph(MemoryGraph):
    """
    The memory graph of the published program, with its faults.

    An opened thing becomes `opened`, a word that nothing else knows; to close turns `closed` into
    `open`; what is put somewhere stays in the hand; to switch off changes nothing; and no call is
    ever refused. Source: tannl/FLTRNN, commit cc105c7.
    """

    def refusal(self, call: SkillCall) -> str | None:
        """Refuse nothing but what is no action, which the program's patterns do not match."""
        return None if ARITY.get(call.skill) == len(call.args) else super().refusal(call)

    def _put(self, relation: str, thing: str, place: str) -> None:
        pass

    def _turn(self, skill: str, name: str) -> None:
        before, after = {
            'open': ('closed', 'opened'),
            'close': ('closed', 'open'),
            'switchon': ('off', 'on'),
            'switchoff': ('', ''),
        }[skill]
        if before in self._states[name]:
            self._states[name] = self._states[name] - {before} | {after}
