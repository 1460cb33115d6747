"""Tests of the memory core."""
