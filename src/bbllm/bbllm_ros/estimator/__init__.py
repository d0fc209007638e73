"""Parts of `state_estimator`."""
