"""What keeps a Franka Research 3 from being driven, each with what has to be done."""

from bbllm.core.errors import LostNodeError, WorldError, WrongRobotError


class RobotError(WorldError):
    """Base of the errors of a robot over libfranka: a fact, and what to do about it."""

    def __init__(self, fact: str, remedy: str = '') -> None:
        super().__init__(f'{fact} {remedy}'.rstrip())
        self.fact, self.remedy = fact, remedy


class NoRouteError(RobotError):
    """Nothing answers under the address."""


class FciOffError(RobotError):
    """The robot is there, and its FCI is not active."""


class NotARobotError(RobotError):
    """Something else than a robot serves the port of the robot's control."""


class NoStatesError(RobotError):
    """The robot's control replies, and its states do not arrive."""


class ControlTakenError(RobotError):
    """Another program is connected to the robot."""


class VersionError(RobotError):
    """The robot's system and this libfranka do not speak the same version of the protocol."""


class SafetyRulesError(RobotError):
    """The robot keeps its model from libfranka, as it does while it has safety rules."""


class RealtimeError(RobotError):
    """Real time is enforced, and this computer does not offer it."""


class SlowMachineError(RobotError):
    """This computer or its network does not keep up with 1000 states a second."""


class NoHandError(RobotError):
    """There is no hand at the robot."""


class UnhomedError(RobotError):
    """The hand has to be homed before it moves: its widths are wrong."""


class LockedError(RobotError):
    """The brakes of the joints are closed."""


class LoadError(RobotError):
    """The load that is set in the robot is not the one that was stated."""


class LostRobotError(RobotError, LostNodeError):
    """The connection broke while the driver was in use."""


class SimulatedServerError(WrongRobotError):
    """The address is a simulation and was stated to be a robot, or the reverse."""
