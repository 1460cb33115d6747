"""Everything that can go wrong in the memory, as a small hierarchy of typed errors.

Raised by ``core`` and ``operations``; each door turns a key and its placeholders into the user's
language. The message of an error never carries the text of a memory.
"""

from .models import Memory


class AiMemoryError(Exception):
    """A failure with a translation key and the placeholders of its message."""

    def __init__(self, key: str, **placeholders: str | float) -> None:
        """Keep the key (an entry under ``exceptions`` of the translations) and its values."""
        self.key = key
        self.placeholders = {name: str(value) for name, value in placeholders.items()}
        details = ", ".join(f"{name}={value}" for name, value in self.placeholders.items())
        super().__init__(f"{key} ({details})" if details else key)


class InvalidInputError(AiMemoryError):
    """The caller sent something that cannot be accepted; nothing was changed."""


class ScreenedError(InvalidInputError):
    """What was sent holds a secret; names the field and the pattern that found it, no more."""


class NotFoundError(AiMemoryError):
    """No memory with that id is visible to the caller; says nothing about hidden ones."""


class AccessDeniedError(AiMemoryError):
    """The caller lacks the access that the operation needs."""


class ConflictError(AiMemoryError):
    """Somebody else changed the memory meanwhile; ``current`` is how it stands, nothing changed.

    It is None for a caller who may not read it; ``revision`` is told to everybody.
    """

    def __init__(self, key: str, current: Memory, **placeholders: str | float) -> None:
        """Keep the memory as it stands beside key and placeholders."""
        super().__init__(key, **placeholders)
        self.current: Memory | None = current
        self.revision = current.revision


class ReceiptError(AiMemoryError):
    """The id of an operation cannot be used again: it is another's, for other inputs or too old."""


class StorageError(AiMemoryError):
    """The database refused; the transaction was rolled back and nothing was changed."""


class DatabaseLockedError(StorageError):
    """Another process holds the database; trying again later may succeed."""


class DatabaseUnusableError(StorageError):
    """The file cannot be opened as it is; it was left untouched and a person has to act."""
