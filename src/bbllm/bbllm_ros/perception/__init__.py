"""Parts of the node `perception`."""
