"""Parts of verbs that show episodes: text, the page in a browser."""
