"""When a memory lapses: what a caller says, as a moment.

Used where input is cleaned and where it is stored. A day lasts until its end in the home's time,
which daylight saving makes shorter or longer; a time without an offset is the home's.
"""

from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

from .errors import InvalidInputError
from .memories import milliseconds, moment
from .models import Expiry, Never

FIELD: Final = "expires"


def resolved(expires: Expiry | None, now: datetime, home: tzinfo | None) -> Expiry | None:
    """Return the moment that is meant, in UTC and as exact as it is stored.

    Raises InvalidInputError for one that is past, or that no calendar has.
    """
    if expires is None or isinstance(expires, Never):
        return expires
    try:
        if not isinstance(expires, datetime):
            expires = datetime.combine(expires + timedelta(days=1), time.min)
        if expires.tzinfo is None:
            expires = expires.replace(tzinfo=home or UTC)
        at = moment(milliseconds(expires))
    except (OverflowError, ValueError, OSError):
        raise InvalidInputError("not_a_time", field=FIELD) from None
    if at <= now:
        raise InvalidInputError("expires_in_past", field=FIELD)
    return at


def stored(expires: Expiry | None) -> int | None:
    """Return a resolved expiry as the database holds it."""
    return milliseconds(expires) if isinstance(expires, datetime) else None
