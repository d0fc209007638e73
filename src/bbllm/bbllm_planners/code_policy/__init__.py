"""Programs of a closed grammar over skills and queries of the scene."""
