"""The toolbelt for agent hosts: an MCP server over standard input and output, or over HTTP on this machine."""
