"""ProgPrompt, LangPrompt and the planner of Huang et al."""
