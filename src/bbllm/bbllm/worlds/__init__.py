"""Places where a call is executed, behind one protocol."""
