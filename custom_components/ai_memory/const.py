"""Names and defaults that the Home Assistant side shares."""

from typing import Final

DOMAIN: Final = "ai_memory"
NAME: Final = "AI Memory"

CONF_ASSIST_TOOLS: Final = "assist_tools"
CONF_EMBEDDING_ENGINE: Final = "embedding_engine"
CONF_MAX_ENTRIES: Final = "max_entries"

DEFAULT_ASSIST_TOOLS: Final = True
DEFAULT_MAX_ENTRIES: Final = 1_000
MAX_ENTRIES_MINIMUM: Final = 1
MAX_ENTRIES_MAXIMUM: Final = 1_000_000

DATABASE_FILE_NAME: Final = "ai_memory.db"
EVENT_UPDATED: Final = "ai_memory_updated"

SECRET_KEYS: Final = frozenset({"api_key"})
"""Keys of the config entry that no attribute and no download may show."""
