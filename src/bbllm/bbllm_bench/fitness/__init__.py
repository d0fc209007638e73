"""Whether a language model is fit for the planners: fixed questions, under their own prompts."""
