"""Results of episodes: records, files, settings, versions."""
