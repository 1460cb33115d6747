"""The benchmarks, run small."""
