"""The ledger of failures, derived from journals: what failed, and what came of it."""
