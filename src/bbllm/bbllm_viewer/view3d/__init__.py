"""The arm and the objects in three dimensions, for browsers and videos."""
