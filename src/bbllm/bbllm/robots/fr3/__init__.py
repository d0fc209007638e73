"""The Franka Research 3 with the Franka Hand."""
