"""A server of the Model Context Protocol (MCP), through which language models use a stack."""
