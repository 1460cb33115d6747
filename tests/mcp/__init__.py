"""Tests of the door for coding agents."""
