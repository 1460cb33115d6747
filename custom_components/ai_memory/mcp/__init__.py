"""The door for coding agents: MCP over streamable HTTP, and the same tools as REST.

``engine`` speaks the protocol and knows nothing of Home Assistant or of memory; the modules beside
it serve it over HTTP, decide who may come in and turn publications of the catalogue into tools.
"""
