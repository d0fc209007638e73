"""ProgPrompt and LangPrompt."""
