"""Starting a stack of nodes, and its clients."""
