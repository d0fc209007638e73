"""What the check of plans finds in episodes that were played."""
