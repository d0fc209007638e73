"""Pictures, videos, pages in a browser, and the console."""
