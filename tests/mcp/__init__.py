"""The door for coding agents."""
