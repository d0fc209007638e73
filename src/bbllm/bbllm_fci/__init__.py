"""The simulated table behind the network protocol of Franka's robots (FCI), for libfranka."""
