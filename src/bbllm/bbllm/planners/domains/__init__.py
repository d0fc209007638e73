"""What planners write and read where kinds of worlds differ: tables and households."""
