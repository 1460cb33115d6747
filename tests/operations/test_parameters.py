"""What callers send for an expiry, on every door alike."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from custom_components.ai_memory.core import InvalidInputError, Never
from custom_components.ai_memory.operations import Kind, Parameter

EXPIRES = Parameter(name="expires", kind=Kind.EXPIRY)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("2026-12-24", date(2026, 12, 24)),
        (" 2026-12-24 ", date(2026, 12, 24)),
        ("20261224", date(2026, 12, 24)),
        ("2026-12-24T18:30", datetime.fromisoformat("2026-12-24T18:30")),
        ("2026-12-24 18:30:15", datetime.fromisoformat("2026-12-24T18:30:15")),
        ("2026-12-24T18:30:00Z", datetime(2026, 12, 24, 18, 30, tzinfo=UTC)),
        (
            "2026-12-24T18:30:00+01:00",
            datetime(2026, 12, 24, 18, 30, tzinfo=timezone(timedelta(hours=1))),
        ),
        ("never", Never.NEVER),
        (" NEVER ", Never.NEVER),
        # YAML makes dates and times of what looks like them.
        (date(2026, 12, 24), date(2026, 12, 24)),
        (datetime(2026, 12, 24, tzinfo=UTC), datetime(2026, 12, 24, tzinfo=UTC)),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_an_expiry_is_a_day_a_moment_or_never(raw: object, expected: object) -> None:
    parsed = EXPIRES.parse(raw)
    assert (parsed, type(parsed)) == (expected, type(expected))
    # A door parses for its own terms, then the catalogue for the operation's.
    assert EXPIRES.parse(parsed) == parsed


@pytest.mark.parametrize(
    "raw",
    [
        "Sunday",
        "2026-13-01",
        "2026-02-30",
        "2026-12-24T25:00",
        "nevermore",
        "24.12.2026",
        "0",
        "-1",
        "∞",
        1798070400,
        20261224,
        1.5,
        True,
        [],
        {"day": 1},
        b"2026-12-24",
    ],
)
def test_nothing_else_is_taken_for_one(raw: object) -> None:
    with pytest.raises(InvalidInputError) as refused:
        EXPIRES.parse(raw)
    assert (refused.value.key, refused.value.placeholders) == ("not_a_time", {"field": "expires"})
