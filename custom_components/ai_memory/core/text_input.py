"""What a caller may send as text: cleaned, bounded, and refused with a reason.

Used by the manager before anything is looked up or written. Refusals name the field and the limit,
never the text.
"""

from typing import Final

from slugify import slugify

from .errors import InvalidInputError
from .room_detection import canonical_name

CONTENT_LIMIT_CHARACTERS: Final = 10_000
SUMMARY_LIMIT_CHARACTERS: Final = 500
NAME_LIMIT_CHARACTERS: Final = 64
QUERY_USED_CHARACTERS: Final = 1_000


def clean_text(text: str, field: str, limit: int) -> str:
    """Return the text without surrounding white space.

    Raises InvalidInputError for NUL bytes, lone surrogates and more than ``limit`` characters.
    """
    text = text.strip()
    if len(text) > limit:
        raise InvalidInputError("too_long", field=field, limit=limit, length=len(text))
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError("invalid_characters", field=field)
    return text


def clean_content(text: str) -> str:
    """Return the content of a memory, which must say something. Raises InvalidInputError."""
    text = clean_text(text, "content", CONTENT_LIMIT_CHARACTERS)
    if not text:
        raise InvalidInputError("empty", field="content")
    return text


def clean_query(text: str) -> str:
    """Return what of a query is looked for; a very long one is cut, an empty one refused."""
    text = text.replace("\x00", " ").encode("utf-8", "ignore").decode().strip()
    if not text:
        raise InvalidInputError("empty", field="query")
    return text[:QUERY_USED_CHARACTERS]


def place_name(name: str | None, field: str) -> str | None:
    """Return the English lowercase slug of a wing or room, or None for a blank one.

    A default name in one of the known languages becomes its English name; anything else is
    transliterated. Raises InvalidInputError when nothing is left or the name is too long.
    """
    if name is None or not (cleaned := clean_text(name, field, NAME_LIMIT_CHARACTERS)):
        return None
    found = canonical_name(cleaned) or slugify(cleaned, separator="_")
    if not found:
        raise InvalidInputError("invalid_name", field=field)
    if len(found) > NAME_LIMIT_CHARACTERS:
        raise InvalidInputError(
            "too_long", field=field, limit=NAME_LIMIT_CHARACTERS, length=len(found)
        )
    return found
