"""Files that people write: YAML, found by name or path and explained where wrong."""
