"""The executables, one module each."""
