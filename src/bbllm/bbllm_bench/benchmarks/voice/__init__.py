"""What becomes of synthesised speech."""
