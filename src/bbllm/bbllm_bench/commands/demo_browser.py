"""`bbllm demo --browser`: a page that directs the simulated arm of this process."""

from contextlib import ExitStack
from dataclasses import dataclass

from bbllm.api.config import EpisodeConfig
from bbllm.api.local_session import LocalSession
from bbllm.api.setup import make_chosen_models, make_setup
from bbllm.api.stage import open_stage
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.errors import ConfigError
from bbllm.core.registry import fallback_name
from bbllm.scene.scene_file import list_scenes
from bbllm.worlds.household.houses import list_houses
from bbllm_viewer.commands.browser import (
    BrowserOptions,
    check_packages,
    served,
    until_interrupted,
)


@dataclass(frozen=True, kw_only=True)
class DemoBrowserOptions(BrowserOptions):
    """Whether there is a page, and what is asked on it."""

    approval: ApprovalMode | None = option(
        'With --browser: whether a person approves every plan there (plan) before it moves the '
        'arm, or none, the default.',
    )


def show_in_browser(
    task: str, options: EpisodeConfig, browser: DemoBrowserOptions, output: Output
) -> None:
    """Serve a page that directs the simulated arm, until Ctrl-C."""
    check_packages('bbllm demo --browser')
    if browser.approval not in (None, ApprovalMode.NONE, ApprovalMode.PLAN):
        raise ConfigError(
            'The arm in this process asks for plans or for nothing; a stack also for calls: '
            f'bbllm up sim --browser --approval {browser.approval.value}.'
        )
    arms = SimulatedArms(options, asks=browser.approval is ApprovalMode.PLAN)
    with ExitStack() as stack:
        from bbllm_viewer.console.session_desk import SessionDesk

        session = arms.open(arms.scene, arms.model)
        stack.callback(lambda: desk.session.close())
        desk = stack.enter_context(SessionDesk(session, arms))
        desk.feed.set('task', task)
        with served(desk, browser.page, output):
            output.print('Ctrl-C ends it.', 'dim')
            until_interrupted()


class SimulatedArms:
    """Simulated arms and houses, with the same options but for scene and model; see `Choices`."""

    def __init__(self, options: EpisodeConfig, *, asks: bool) -> None:
        self._options, self._asks = options, asks
        self._old: list[LocalSession] = []
        """The newest is in use."""
        self.scene = str(options.scene)
        self.model = make_chosen_models(options).brain.name
        self._first = self.model
        self._houses = list_houses()
        self.scenes = tuple(dict.fromkeys((self.scene, *list_scenes(), *self._houses)))
        self.models = tuple(dict.fromkeys((self.model, fallback_name())))

    def open(self, scene: str, model: str) -> LocalSession:
        """Return a session with a scene or a house as its file has it; see `Choices`."""
        # The models that the command line chose may be more than a name.
        models = {} if model == self._first else {'brain': model, 'body': model}
        in_house = scene in self._houses
        given = self._options.given_in('household') if in_house else self._options.given
        place = {'house' if in_house else 'scene': scene}
        options = EpisodeConfig.of({**given, **place, **models})
        setup = make_setup(options, options.domain)
        with ExitStack() as stack:
            stage = stack.enter_context(open_stage(options))
            session = LocalSession(
                stage.world,
                setup,
                asks=self._asks,
                record=stage.record,
                never=options.constraints,
                kept_out=options.kept_out,
                snapshot=stage.snapshot,
                name=f'{"house" if in_house else "simulated arm"} · {scene}',
                close=stack.pop_all().close,
            )
        self.scene, self.model = scene, model
        self._old.append(session)
        return session

    def close(self) -> None:
        """Release all but the newest."""
        while len(self._old) > 1:
            self._old.pop(0).close()
