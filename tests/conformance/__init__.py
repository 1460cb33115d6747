"""The official conformance suite against the transport that serves the memory."""
