"""The export for people: memories by wing and room, each with its date.

Only ``exporting`` writes it. Nothing reads it back whole: to come back, take the JSONL export. The
import asks here, so that nobody takes it for a list of facts.
"""

from datetime import datetime
import re
from typing import Final

from ..models import Memory, Scope

_TITLE: Final = re.compile(r"\ufeff?\s*# AI Memory\s+Exported on \d{4}-\d\d-\d\d\.")


def is_export(text: str) -> bool:
    """Return whether a text begins as this export does."""
    return _TITLE.match(text) is not None


def title(exported: datetime) -> str:
    """Return the beginning of a document."""
    return f"# AI Memory\n\nExported on {exported.date().isoformat()}.\n"


def heading(wing: str | None, room: str) -> str:
    """Return the heading of a room, and before it that of its wing where that is another one."""
    above = "" if wing is None else f"\n## {wing}\n"
    return f"{above}\n### {room}\n\n"


def entry(memory: Memory) -> str:
    """Return one memory; further lines of it are part of its list item."""
    first, *others = memory.content.splitlines()
    told = [memory.updated.date().isoformat()]
    if memory.scope is Scope.PRIVATE:
        told.append("private")
    if memory.summary:
        told.append(" ".join(memory.summary.split()))
    lines = [f"- {first} *({'; '.join(told)})*", *(f"  {line}".rstrip() for line in others)]
    return "\n".join(lines) + "\n"
