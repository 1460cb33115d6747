"""The door for voice and chat agents."""

from .api import register_api

__all__ = ["register_api"]
