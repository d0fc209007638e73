"""Options of an episode: declared once, for flags, keywords and parameters of nodes."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import bbllm
from bbllm.api.config import EpisodeConfig, EpisodeOptions, check_world
from bbllm.api.settings import describe
from bbllm.cli.support.lazy import command_of
from bbllm.cli.support.requests import spelled
from bbllm.cli.support.verb_group import find_verbs
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.events import Limits
from bbllm.planners.common.methods import MappingMethod

OTHER_PARAMETERS = {
    ('state_estimator', 'scene'): 'furniture for scenes from pictures, empty beside a simulator',
    ('perception', 'scene'): 'likewise',
    ('state_estimator', 'sources'): 'a list of sources of a stack, of which camera is one',
}
"""Parameters that have the name of an option and are another one, and what they are."""


def test_a_program_can_choose_all_that_verbs_can() -> None:
    assert {*EpisodeOptions.__annotations__} - {'limits'} == {*EpisodeConfig.model_fields}


DECLARERS = frozenset(
    {'setting', 'model_setting', 'limit', 'option', 'flag', 'count', 'param', 'Option'}
)
"""What makes a flag, a keyword or a parameter, by the name of the function."""
OTHERS = {
    ('recorded', 'record'): 'a switch: make the recordings that are missing',
    ('faults', 'planner'): 'several',
    ('injection', 'body'): 'a stand-in, or a model',
    ('injection', 'record'): 'a folder',
    ('injection', 'replay'): 'likewise',
    ('injection', 'brain'): 'a stand-in that obeys what it reads, or a model',
    ('injection', 'goal'): 'whose goal is at risk',
    ('FailureOptions', 'planner'): 'a filter of failures on record',
    ('FailureOptions', 'brain'): 'likewise',
    ('DriverRequest', 'record'): 'messages of a driver',
    ('DriverRequest', 'ip'): 'of a simulated robot whose faults are provoked',
    ('DriverRequest', 'safety'): 'of picks and places, the slow one by default',
    ('doctor', 'ip'): 'of the robot to check',
    ('eai_export', 'brain'): 'a model, or the annotations in its place',
    ('eai_export', 'replay'): 'likewise, and none of an episode',
    ('doctor', 'load_kg'): 'that the robot is to have',
    ('show', 'speed'): 'of a video',
    ('SceneSourceChoice', 'sources'): 'a list of sources of a stack, of which camera is one',
    (
        'StateEstimatorParams',
        'scene',
    ): 'furniture for scenes from pictures, empty beside a simulator',
    ('PerceptionParams', 'scene'): 'likewise',
    ('_SuiteFile', 'visibility'): 'a field of suite files',
    ('Suite', 'visibility'): 'likewise',
    ('HouseStart', 'visibility'): 'likewise',
}
"""Fields and arguments that have the name of an option and are another one, and what they are.
Every `seed` of the bench is another one, too: it makes tables and houses."""


def declarations(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield owner and name of the options of an episode that a module declares by itself."""
    for owner in ast.walk(tree):
        fields: list[tuple[str, ast.expr | None, ast.expr | None]] = []
        if isinstance(owner, ast.ClassDef):
            found = (item for item in owner.body if isinstance(item, ast.AnnAssign))
            fields = [(ast.unparse(item.target), item.annotation, item.value) for item in found]
        elif isinstance(owner, ast.FunctionDef):
            args = owner.args
            own = [None] * (len(args.args) - len(args.defaults)) + [
                *args.defaults,
                *args.kw_defaults,
            ]
            both = zip((*args.args, *args.kwonlyargs), own, strict=True)
            fields = [(item.arg, item.annotation, default) for item, default in both]
        for name, kind, default in fields:
            option = EpisodeConfig.model_fields.get(name)
            calls = [
                node.func
                for part in (kind, default)
                if part
                for node in ast.walk(part)
                if isinstance(node, ast.Call)
            ]
            value = default.value if isinstance(default, ast.Constant) else None
            is_copy = (
                isinstance(owner, ast.ClassDef) and value and option and value == option.default
            )
            if option and (
                is_copy or any(ast.unparse(x).split('.')[-1] in DECLARERS for x in calls)
            ):
                yield owner.name, name


def test_an_option_of_an_episode_is_declared_in_one_module() -> None:
    root = Path(bbllm.__file__).parents[1]
    modules = [path for path in root.glob('bbllm*/**/*.py') if path.name != 'config.py']
    found = {each for path in modules for each in declarations(ast.parse(path.read_text()))}

    assert {(owner, name) for owner, name in found if name != 'seed'} == OTHERS.keys()


def test_parameters_of_nodes_are_the_options_of_their_names() -> None:
    pytest.importorskip('bbllm_ros')
    from bbllm_ros.parameters.node_params import NODE_PARAMS

    for node, record in NODE_PARAMS.items():
        for name in record.model_fields.keys() & EpisodeConfig.model_fields.keys():
            same = record.model_fields[name].description == (
                EpisodeConfig.model_fields[name].description
            )
            assert same is not ((node, name) in OTHER_PARAMETERS), (node, name)


@pytest.mark.parametrize(
    ('chosen', 'name', 'value'),
    [
        ({'mapping': 'text'}, 'mapping', MappingMethod.TEXT),
        ({'never': 'touch a; move b'}, 'never', ('touch a', 'move b')),
        ({'keep_out': ['0 0 0 1 1 1']}, 'keep_out', ('0 0 0 1 1 1',)),
        ({'rehearse': True}, 'rehearse', 3),
        ({'rehearse': False}, 'rehearse', 0),
        ({'rehearse': None}, 'rehearse', -1),
        ({'record': '~/a.jsonl'}, 'record', Path.home() / 'a.jsonl'),
        ({'limits': Limits(steps=None, wall_s=2.0)}, 'limits', Limits(steps=None, wall_s=2.0)),
        ({'limits': Limits(steps=5), 'step_limit': 6}, 'step_limit', 6),
    ],
)
def test_values_are_taken_as_people_write_them(
    chosen: dict[str, object], name: str, value: object
) -> None:
    assert getattr(EpisodeConfig.of(chosen), name) == value


@pytest.mark.parametrize(
    ('chosen', 'error', 'text'),
    [
        ({'planer': 'brain_body'}, UnknownNameError, "Did you mean 'planner'?"),
        ({'mapping': 'embeding'}, UnknownNameError, "Did you mean 'embedding'?"),
        ({'trouble': 'fog'}, UnknownNameError, 'Known: clutter, light, moved, none'),
        ({'feedback_loops': 101}, ConfigError, 'feedback_loops cannot be 101. It is: How often'),
        ({'feedback_loops': 101}, ConfigError, 'Between 0 and 100. For example 3.'),
        ({'brain': 5}, ConfigError, 'int is no model'),
    ],
)
def test_what_cannot_be_used_is_an_error_with_what_can(
    chosen: dict[str, object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        EpisodeConfig.of(chosen)

    assert text in str(caught.value)


def test_limits_are_those_of_an_episode_without_any() -> None:
    assert EpisodeConfig().limits == Limits()


@pytest.mark.parametrize(
    ('kind', 'name', 'value'),
    [
        ('sim', 'mode', 'fresh'),
        ('household', 'never', ('touch a',)),
        ('given', 'seed', 1),
        ('ros', 'planner', 'llm_state'),
        ('ros', 'stream', False),
        ('ros', 'seed', 0),
        ('ros', 'limits', Limits()),
    ],
)
def test_a_world_refuses_options_that_it_does_not_have_in_the_words_of_the_caller(
    kind: str, name: str, value: object
) -> None:
    with pytest.raises(ConfigError, match=f'<{name}>'):
        check_world(kind, {name: value}, spell=lambda name: f'<{name}>')


@pytest.mark.parametrize('verb', ['run', 'plan', 'demo', 'up', 'mcp'])
def test_a_flag_of_a_verb_is_the_option_of_its_name(verb: str) -> None:
    pytest.importorskip('bbllm_ros')
    module, _ = find_verbs()[verb]
    command = command_of(getattr(importlib.import_module(module), verb))
    spell = spelled(EpisodeConfig)
    known = {spell(name): item for name, item in EpisodeConfig.model_fields.items()}
    found = {flag: param for param in command.params for flag in known.keys() & {*param.opts}}

    assert found
    for flag, param in found.items():
        head = (known[flag].description or '').partition('.')[0].partition(' (')[0]
        is_another = (verb, flag) == ('up', '--sources')  # a list, of which camera is one
        assert param.help.startswith(head) is not is_another, (verb, flag, param.help)


def test_the_description_of_each_option_is_a_sentence_that_fits_each_surface() -> None:
    for name, item in EpisodeConfig.model_fields.items():
        text = describe(item)
        assert text[0].isupper() and text.endswith('.'), name
        assert '--' not in text or name in ('planner', 'stream'), name
