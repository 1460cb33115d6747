"""Turning the memory's errors into Home Assistant's, with the same translation keys.

Used by the services, the LLM tools and the set-up, so that a person reads every failure in their
language and a model reads it in English.
"""

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .const import DOMAIN
from .core import AiMemoryError, StorageError


def home_assistant_error(error: AiMemoryError) -> HomeAssistantError:
    """Return the matching error: the caller's mistake, or a failure of the storage."""
    kind = HomeAssistantError if isinstance(error, StorageError) else ServiceValidationError
    return kind(
        translation_domain=DOMAIN,
        translation_key=error.key,
        translation_placeholders=error.placeholders,
    )
