"""Values given to something that is named like a credential: ``api_key = …``, ``"password": "…"``.

The workshop refuses what looks like a secret; the home only what a machine made for machines, which
never is a password.
"""

import re
from typing import Final

from .names import is_credential_name, is_password_name
from .rules import Rule
from .values import (
    is_placeholder,
    looks_like_password,
    looks_mixed,
    looks_random,
    looks_very_random,
)

_NAME_CHARACTERS: Final = 64
_PHRASE_WORDS: Final = 4
_LETTERS_LEAST: Final = 6
_ANCHORS: Final = (
    "passw passphrase passcode pwd pass kennwort secret token key auth creds credential sess cookie"
    " jwt psk sid sig hmac pin otp"
)
_NAME_BEFORE: Final = re.compile(r"[\w-]*\Z")
_ASSIGNMENT: Final = re.compile(
    r"""
    [\w-]{1,60}+
    [\\"'`\])*]{0,5}                                        # a quoted, indexed or emphasised name
    (?P<separator>\s{0,2}(?:\#?\{[^}\n]{0,20}\})?[ \t]{0,4}(?::=|=>|={1,3}|:|>)[*]{0,2}[ \t]{0,4})
    (?:[\\]{0,3}(?P<quote>["'`])(?P<quoted>[^"'`\n\\]{1,256})|(?P<bare>[^\s"'`<>&,;=:]{1,256}={0,2}))
    """,
    re.VERBOSE,
)
_COUNTED: Final = frozenset({"pass", "pin"})
"""Names that a figure may also count: tests that pass, pins of a chip."""
_IN_AN_ADDRESS: Final = frozenset("?&#")


def _name(found: re.Match[str]) -> tuple[str, str]:
    """Return the whole name around an anchor, and the character before it."""
    text, at = found.string, found.start()
    before = text[max(0, at - _NAME_CHARACTERS) : at]
    begun = _NAME_BEFORE.search(before)
    head = begun[0] if begun else ""
    end = re.match(r"[\w-]{1,60}", text[at : at + _NAME_CHARACTERS])
    previous = before[: len(before) - len(head)][-1:]
    return head + (end[0] if end else ""), previous


def _is_secret(found: re.Match[str]) -> bool:
    value = found["quoted"] or found["bare"]
    name, previous = _name(found)
    if not is_credential_name(name, bare_key=previous in _IN_AN_ADDRESS and bool(previous)):
        return False
    if not is_password_name(name):
        return looks_mixed(value) or (found["quote"] is not None and looks_random(value))
    if value.isdecimal() and name.lower() in _COUNTED:
        return False
    return looks_like_password(value) or _is_phrase(found) or _is_set(found, name)


def _is_phrase(found: re.Match[str]) -> bool:
    """Return whether a quoted value is a passphrase of several words."""
    return found["quoted"] is not None and (
        len(found["quoted"].split()) >= _PHRASE_WORDS and found["separator"].strip() != ">"
    )


def _is_set(found: re.Match[str], name: str) -> bool:
    """Return whether an environment variable is given a value, of letters alone though it be."""
    value = found["quoted"] or found["bare"]
    return (
        name.isupper()
        and found["separator"] == "="
        and len(value) >= _LETTERS_LEAST
        and value.isalnum()
        and not is_placeholder(value)
    )


def _is_machine_secret(found: re.Match[str]) -> bool:
    value = found["quoted"] or found["bare"]
    if not looks_very_random(value):
        return False
    name, previous = _name(found)
    named = is_credential_name(name, bare_key=previous in _IN_AN_ADDRESS and bool(previous))
    return named and not is_password_name(name)


ASSIGNMENT: Final = Rule(
    name="credential-assignment",
    anchors=tuple(_ANCHORS.split()),
    pattern=_ASSIGNMENT,
    accept=_is_secret,
    caseless=True,
)
MACHINE_ASSIGNMENT: Final = Rule(
    name="credential-assignment",
    anchors=("secret", "token", "key", "auth", "sig", "sess", "jwt", "sid", "cookie"),
    pattern=_ASSIGNMENT,
    accept=_is_machine_secret,
    caseless=True,
)
