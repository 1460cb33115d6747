"""Names and defaults that the Home Assistant side shares."""

from typing import Final

DOMAIN: Final = "ai_memory"
NAME: Final = "AI Memory"

ENTRY_VERSION: Final = 4
"""One above the last version of the integration whose entries and database this one takes over."""

CONF_ADMINISTRATOR_ACCESS: Final = "administrator_access"
CONF_API_KEY: Final = "api_key"
CONF_ASSIST_TOOLS: Final = "assist_tools"
CONF_DOCUMENT_INSTRUCTION: Final = "document_instruction"
CONF_EMBED_TIMEOUT: Final = "embed_timeout_s"
CONF_SIMILARITY_FLOOR: Final = "similarity_floor"
CONF_PROMOTION_USES: Final = "promotion_uses"
CONF_ARCHIVE_DAYS: Final = "archive_days"
PROMOTION_USES_MAXIMUM: Final = 1_000
ARCHIVE_DAYS_MAXIMUM: Final = 3_650
CONF_ANCHOR_SWEEP_HOURS: Final = "anchor_sweep_hours"
DEFAULT_ANCHOR_SWEEP_HOURS: Final = 6
ANCHOR_SWEEP_HOURS_MAXIMUM: Final = 168
CONF_RETENTION_DAYS: Final = "retention_deleted_days"
RETENTION_DAYS_MAXIMUM: Final = 3_650
CONF_IDENTITY: Final = "identity"
CONF_RECALL: Final = "recall"
CONF_SECRET_SCREEN: Final = "secret_screen"  # noqa: S105 - the name of a setting
CONF_STANDING_TOKENS: Final = "standing_tokens"
DEFAULT_STANDING_TOKENS: Final = 400
STANDING_TOKENS_MAXIMUM: Final = 4_000
IDENTITY_LIMIT_CHARACTERS: Final = 4_000
CONF_EMBEDDING_ENGINE: Final = "embedding_engine"
CONF_MAX_ENTRIES: Final = "max_entries"
CONF_MODEL_NAME: Final = "model_name"
CONF_PREVIOUS_API: Final = "previous_api"
"""Marks an entry that came from the integration before: its agents know another API id."""

CONF_QUERY_INSTRUCTION: Final = "query_instruction"
CONF_REMOTE_URL: Final = "remote_url"
CONF_USER_ACCESS: Final = "user_access"

SUBENTRY_PROFILE: Final = "agent_profile"
CONF_DEFAULT_WING: Final = "default_wing"
CONF_NAME: Final = "name"
CONF_TOOLS: Final = "tools"
CONF_WINGS: Final = "wings"
TOOLS_FULL: Final = "full"
TOOLS_READ_ONLY: Final = "read_only"

SUBENTRY_VOICE: Final = "voice_person"
CONF_AREAS: Final = "areas"
CONF_PERSON: Final = "person"
CONF_SATELLITES: Final = "satellites"

REMOTE_KEYS: Final = (CONF_REMOTE_URL, CONF_API_KEY, CONF_MODEL_NAME)
"""What the config entry holds for an engine with a server, and for no other."""

DEFAULT_ASSIST_TOOLS: Final = True
DEFAULT_RECALL: Final = False
DEFAULT_MAX_ENTRIES: Final = 1_000
EMBED_TIMEOUT_MINIMUM_SECONDS: Final = 0.1
EMBED_TIMEOUT_MAXIMUM_SECONDS: Final = 30.0
MAX_ENTRIES_MINIMUM: Final = 1
MAX_ENTRIES_MAXIMUM: Final = 1_000_000

DATABASE_FILE_NAME: Final = "ai_memory.db"
EVENT_UPDATED: Final = "ai_memory_updated"
IDS_TOLD: Final = 100
"""How many ids one event names at most; its ``count`` tells how many there were."""

SECRET_KEYS: Final = frozenset({CONF_API_KEY, CONF_IDENTITY})
"""Keys of the config entry that no attribute and no download may show."""
