"""Speed of the household beside VirtualHome 2.3.0."""
