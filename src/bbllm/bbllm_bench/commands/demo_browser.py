"""`bbllm demo --browser`: a page that directs the simulated arm of this process."""

from dataclasses import dataclass

from bbllm.api.config import EpisodeConfig
from bbllm.api.local_session import LocalSession
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.errors import ConfigError
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
    setup = make_setup(options, options.domain)
    with open_stage(options) as stage:
        from bbllm_viewer.console.session_desk import SessionDesk

        session = LocalSession(
            stage.world,
            setup,
            asks=browser.approval is ApprovalMode.PLAN,
            record=stage.record,
            never=options.constraints,
            snapshot=stage.snapshot,
            name=f'simulated arm · {options.scene}',
        )
        with SessionDesk(session) as desk:
            desk.feed.set('task', task)
            with served(desk, browser.page, output):
                output.print('Ctrl-C ends it.', 'dim')
                until_interrupted()
