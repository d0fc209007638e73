"""Pictures of an episode: a labelled top-down drawing, and a rendering where that works."""
