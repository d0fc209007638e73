"""What a person waits for: arm, models and stack, each beside a reference of the same run."""
