"""What keeps a Franka Research 3 from being driven, each with what has to be done."""

from bbllm.core.errors import LostNodeError, WorldError, WrongRobotError


class NoRouteError(WorldError):
    """Nothing answers under the address."""


class FciOffError(WorldError):
    """The robot is there, and its FCI is not active."""


class NotARobotError(WorldError):
    """Something else than a robot serves the port of the robot's control."""


class NoStatesError(WorldError):
    """The robot's control replies, and its states do not arrive."""


class ControlTakenError(WorldError):
    """Another program is connected to the robot."""


class VersionError(WorldError):
    """The robot's system and this libfranka do not speak the same version of the protocol."""


class RealtimeError(WorldError):
    """Real time is enforced, and this computer does not offer it."""


class SlowMachineError(WorldError):
    """This computer or its network does not keep up with 1000 states a second."""


class NoHandError(WorldError):
    """There is no hand at the robot."""


class UnhomedError(WorldError):
    """The hand has to be homed before it moves: its widths are wrong."""


class LockedError(WorldError):
    """The brakes of the joints are closed."""


class LoadError(WorldError):
    """The load that is set in the robot is not the one that was stated."""


class LostRobotError(LostNodeError):
    """The connection broke while the driver was in use."""


class SimulatedServerError(WrongRobotError):
    """The address is a simulation and was stated to be a robot, or the reverse."""
