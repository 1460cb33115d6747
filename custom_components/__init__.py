"""Makes the integration importable from the repository root."""
