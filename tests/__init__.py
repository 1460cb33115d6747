"""Tests of the integration; the folders mirror custom_components/ai_memory."""
