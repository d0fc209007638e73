"""Servers of this machine whose address is a secret: the page in a browser, and MCP."""
