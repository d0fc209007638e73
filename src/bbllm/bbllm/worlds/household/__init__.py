"""A household of symbols that obeys VirtualHome's rules."""
