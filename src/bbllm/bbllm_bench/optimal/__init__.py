"""Goals with proven optimal lengths in houses."""
