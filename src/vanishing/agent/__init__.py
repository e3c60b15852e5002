"""The questions for agents: a server that speaks the Model Context Protocol on stdin and stdout.

`folders` says which tables may be read, `server` has the tools. The package ``mcp`` comes with the
extra ``agent`` and is imported where it is used.
"""
