"""Which objects a clause is about: those that are certain, and those that a person chose."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from bbllm_bench.oracle.clauses import names_in
from bbllm_bench.oracle.past import NOTHING_BEFORE, Past
from bbllm_bench.oracle.phrases import Phrases, Reading, T, count_of, one_of, question_of
from bbllm_bench.oracle.table_goals import AskError, RefusalError, Select, TableObject


class Referents(Phrases):
    """Resolves descriptions to objects; the parameters are those of `read_instruction`."""

    def __init__(
        self,
        objects: Mapping[str, TableObject],
        held: str | None = None,
        answers: Mapping[str, str] | None = MappingProxyType({}),
        past: Past = NOTHING_BEFORE,
    ):
        super().__init__(objects, held)
        self._answers, self._past = answers, past
        self._earlier = past.earlier
        self.spoken_of = {name for name in past.last if name in objects}
        if not self.last:
            self.last = tuple(Select(name, (name,)) for name in past.last if name in objects)
        self.recent = tuple(Select(name, (name,)) for name in past.recent if name in objects)
        self.instead = ''
        """The sentence that a person wrote in place of this one, as the answer to a question."""

    def certain(self, select: Select) -> Select:
        """Return one certain object where one is meant; raises AskError where it is not known."""
        if not select.vague or self._answers is None:
            return select
        name = self.answered(question_of(select))
        found = [one for one in select.names if one == name] or [
            one for one in names_in(name, self.objects) if one in select.names
        ]
        if len(found) != 1:
            raise question_of(select)
        return Select(found[0], (found[0],))

    def answered(self, question: AskError) -> str:
        """Return the answer to a question; raises AskError while there is none."""
        if self._answers is None or str(question) not in self._answers:
            raise question
        return self._answers[str(question)]

    def _whole(self, rule: Callable[[int], Reading[T]], i: int = 0) -> Iterator[T]:
        """Yield the readings that end with the clause."""
        return (value for value, j in rule(i) if j == len(self.words))

    def _one(self, select: Select) -> str:
        return one_of(self.certain(select)) if self._answers is not None else select.names[0]

    def _single(self, selects: tuple[Select, ...], verb: str) -> tuple[Select, ...]:
        if len(selects) != 1 or selects[0].count not in (1, None) or count_of(selects) != 1:
            words = ' and '.join(select.words for select in selects)
            raise RefusalError(f"I {verb or 'take'} one object at a time, not '{words}'.")
        return selects

    def _names(self, select: Select) -> tuple[str, ...]:
        return (self._one(select),) if select.count == 1 else select.names

    def _ends(self, select: Select) -> tuple[str, ...]:
        return select.names if select.count in (2, None) else (self._one(select),)
