"""The table and what stands on it: scene files, objects, poses, and pictures of them."""
