"""Benchmarks of the memory: how fast it is, measured by anyone with one command.

``python -m benchmarks.speed`` prints a table and can write JSON; the README here tells how to read
them. Nothing in the integration imports this package.
"""
