"""Parts of `fr3_executor`."""
