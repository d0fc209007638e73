"""Planning methods, one file each, and what they share to ask and to understand."""
