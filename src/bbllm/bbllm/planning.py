"""
What a planner is built from: requests to models, grammars of replies, calls, scenes as text.

Nouns such as `Scene`, `SkillCall`, `Task`, `World` and `EpisodeContext`, and the modules `errors`
and `events`, are names of `bbllm`. docs/writing-a-planner.md shows a planner that uses both, and
`bbllm_planners` has larger ones.
"""

from bbllm.core.approval import denied, withdrawn
from bbllm.core.naming import class_of, id_of, instance_name
from bbllm.core.observation import Observed, lost_names, lost_text, observed
from bbllm.core.paths import config_dir
from bbllm.core.prompt_size import most_tokens, prompt_limit
from bbllm.core.protocols import Body, Embedder, Message, Pass, PromptRequest, Tool, ToolCall
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import CallError, check_call, nearest_first, plain
from bbllm.core.text import DATA_RULE, as_data
from bbllm.core.types import MOVABLE, Code
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.belief.interaction_history import TAKING
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.grounding import (
    Policy,
    Referents,
    absent_text,
    ground,
    meaning_text,
    meant_text,
)
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.common.model_planner import (
    ModelPlanner,
    PictureUse,
    images,
    picture_for,
    picture_sentence,
)
from bbllm.planners.common.plan_grammar import parse_plan, withdrawals
from bbllm.planners.common.plan_mapper import PlanMapper
from bbllm.planners.common.prompting import (
    ask,
    beside,
    declared,
    describe_skill,
    environment,
    messages_of,
    one_line,
    render,
    source,
    task_text,
    templates,
)
from bbllm.planners.common.reply_diagnostics import (
    LostReplyError,
    ReplyDiagnostics,
    is_done_line,
    reason_of,
    refuse_if_impossible,
)
from bbllm.planners.common.steps import failure_cause, map_step
from bbllm.planners.common.tool_calls import (
    CalledTool,
    arguments_of,
    ask_for_call,
    parameters,
    skill_call_of,
    tool_of,
)
from bbllm.planners.domains.household.language import HOUSE_END
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.observation_text import ROOMS, ShortNames, changes, text_of
from bbllm.planners.domains.scene_graph import (
    CHARACTER,
    classes,
    further_skills,
    meant_by,
    reached,
    scene_graph,
    squeezed,
)

__all__ = [
    'CHARACTER',
    'DATA_RULE',
    'HOUSE_END',
    'MOVABLE',
    'ROOMS',
    'TAKING',
    'Body',
    'CallError',
    'CalledTool',
    'Code',
    'Embedder',
    'LexicalEmbedder',
    'LostReplyError',
    'MatchingBody',
    'Message',
    'ModelPlanner',
    'Observed',
    'OpenState',
    'Pass',
    'PictureUse',
    'PlanMapper',
    'PlannerSpec',
    'Policy',
    'PromptRequest',
    'Referents',
    'ReplyDiagnostics',
    'ShortNames',
    'Tool',
    'ToolCall',
    'absent_text',
    'arguments_of',
    'as_data',
    'ask',
    'ask_for_call',
    'beside',
    'changes',
    'check_call',
    'class_of',
    'classes',
    'config_dir',
    'declared',
    'denied',
    'describe_skill',
    'environment',
    'failure_cause',
    'further_skills',
    'ground',
    'id_of',
    'images',
    'instance_name',
    'is_done_line',
    'language_of',
    'lost_names',
    'lost_text',
    'map_step',
    'meaning_text',
    'meant_by',
    'meant_text',
    'messages_of',
    'most_tokens',
    'nearest_first',
    'observed',
    'one_line',
    'parameters',
    'parse_call',
    'parse_plan',
    'picture_for',
    'picture_sentence',
    'plain',
    'prompt_limit',
    'reached',
    'reason_of',
    'refuse_if_impossible',
    'render',
    'scene_graph',
    'skill_call_of',
    'source',
    'squeezed',
    'task_text',
    'templates',
    'text_of',
    'tool_of',
    'withdrawals',
    'withdrawn',
]
