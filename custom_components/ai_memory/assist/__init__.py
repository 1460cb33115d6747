"""The door for voice and chat agents."""

from .api import ProfileApis

__all__ = ["ProfileApis"]
