"""Tests of the embedding engines."""
