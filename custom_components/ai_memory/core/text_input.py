"""What a caller may send as text: cleaned, bounded, and refused with a reason.

Used by the manager before anything is looked up or written. Refusals name the field and the limit,
never the text.
"""

import re
from typing import Final
import unicodedata

from slugify import slugify

from .errors import InvalidInputError, NotFoundError
from .models import Caller, is_workshop
from .namespaces import normalised
from .room_detection import canonical_name

CONTENT_LIMIT_CHARACTERS: Final = 10_000
SUMMARY_LIMIT_CHARACTERS: Final = 500
NAME_LIMIT_CHARACTERS: Final = 64
QUERY_USED_CHARACTERS: Final = 1_000
_FORBIDDEN: Final = re.compile("[\x00\ud800-\udfff]")
# Nobody writes so many accents on one letter; taking them apart can take seconds.
_MARKS_RUN: Final = re.compile("[\u0300-\u036f]{17}")
_ID: Final = re.compile("[0-9A-Za-z]{1,64}")


def clean_text(text: str, field: str, limit: int) -> str:
    """Return the text without surrounding white space.

    Raises InvalidInputError for NUL bytes, lone surrogates and more than ``limit`` characters.
    """
    text = text.strip()
    # Some characters stand for a whole phrase, so that what is searched would be far longer.
    length = len(text) if text.isascii() else len(unicodedata.normalize("NFKC", text[: limit + 1]))
    if (length := max(length, len(text))) > limit:
        raise InvalidInputError("too_long", field=field, limit=limit, length=length)
    if _FORBIDDEN.search(text) or _MARKS_RUN.search(text):
        raise InvalidInputError("invalid_characters", field=field)
    return text


def check_id(memory_id: str) -> None:
    """Refuse what cannot be the id of a memory, without repeating it. Raises NotFoundError."""
    if not _ID.fullmatch(memory_id):
        shown = "".join(character for character in memory_id[:40] if character.isprintable())
        raise NotFoundError("memory_not_found", id=shown)


def clean_content(text: str) -> str:
    """Return the content of a memory, which must say something. Raises InvalidInputError."""
    text = clean_text(text, "content", CONTENT_LIMIT_CHARACTERS)
    if not any(unicodedata.category(character)[0] in "LNPS" for character in text):
        raise InvalidInputError("empty", field="content")
    return text


def clean_query(text: str) -> str:
    """Return what of a query is looked for; a very long one is cut, an empty one refused."""
    text = text.replace("\x00", " ").encode("utf-8", "ignore").decode().strip()
    if not text:
        raise InvalidInputError("empty", field="query")
    return text[:QUERY_USED_CHARACTERS]


def wing_name(caller: Caller, name: str | None) -> str | None:
    """Return the name of a wing as the caller means it, or None for a blank one.

    A caller of the workshop means a namespace where it looks like one; see ``place_name`` for the
    wings of the home. Raises InvalidInputError.
    """
    cleaned = (name or "").strip()
    if caller.reach.workshop and is_workshop(cleaned):
        return normalised(cleaned)
    return place_name(name, "wing")


def place_name(name: str | None, field: str) -> str | None:
    """Return the English lowercase slug of a wing or room, or None for a blank one.

    A default name in one of the known languages becomes its English name; anything else is
    transliterated. Raises InvalidInputError when nothing is left or the name is too long.
    """
    if name is None or not (cleaned := clean_text(name, field, NAME_LIMIT_CHARACTERS)):
        return None
    slug = slugify(cleaned, separator="_")
    found = canonical_name(cleaned) or canonical_name(slug) or slug
    if not found:
        raise InvalidInputError("invalid_name", field=field)
    if len(found) > NAME_LIMIT_CHARACTERS:
        raise InvalidInputError(
            "too_long", field=field, limit=NAME_LIMIT_CHARACTERS, length=len(found)
        )
    return found
