"""Open state: beliefs about objects beyond what scenes show."""
