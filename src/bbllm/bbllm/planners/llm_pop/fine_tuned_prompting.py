"""
The prompt of FT-CoT and FT-Vanilla: one question, what is observed, and what was before.

    Task: Put the lighter block on the heavier one.
    Blocks: red_cube, blue_cube
    Table: centre 0.500 0.000, size 0.360 0.600, top 0.000
    Question: Is enough known to solve the task? If not, what is missing?
    Current: [0.450, -0.100, 0.020, ..., 0.040, 0.040]
    Past:
    None

Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
Robotics Tasks, section 4.2 and appendix A.4 and A.6. The paper's table and blocks are always the
same and its prompts name neither; here a line names the blocks in the vector's order, and one
tells the table. The lines up to the question are what data sets call the instruction, the others
the input. The labels are a contract with `bench.data`.
"""

from __future__ import annotations

from dataclasses import dataclass

from bbllm.core.observation import observed
from bbllm.core.types import Kind, Scene, Task
from bbllm.planners.common.prompting import one_line, templates
from bbllm.planners.llm_pop.fine_tuned_history import numbers
from bbllm.planners.llm_pop.fine_tuned_questions import Question
from bbllm.planners.llm_pop.prompting import table_line


@dataclass(frozen=True, slots=True)
class FtPrompt:
    """One prompt in the two parts that data sets keep apart."""

    instruction: str
    input: str

    def __str__(self) -> str:
        return f'{self.instruction}\n{self.input}'


class FtPrompts:
    """Renders the prompts."""

    def __init__(self) -> None:
        self._templates = templates('bbllm.planners.llm_pop')

    def ask(self, question: Question, task: Task, scene: Scene, history: str) -> FtPrompt:
        """
        Write the prompt of a question.

        Args:
            question: Which.
            task: What was asked for.
            scene: As it is now.
            history: What `ft_history.FtHistory.text` returns.
        """
        now = observed(scene)
        instruction = self._render(
            'instruction',
            task=one_line(task.instruction),
            blocks=[*now.blocks],
            tables=[table_line(item) for item in scene.objects if item.kind is Kind.FIXTURE],
            question=question.value,
        )
        current = f'[{numbers(now.vector())}]'
        return FtPrompt(instruction, self._render('input', current=current, past=history))

    def _render(self, name: str, **values: object) -> str:
        return self._templates.get_template(f'fine_tuned_{name}.md.j2').render(values).rstrip()
