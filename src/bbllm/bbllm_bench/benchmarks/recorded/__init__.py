"""Replays recorded replies of a language model, beside a stand-in."""
