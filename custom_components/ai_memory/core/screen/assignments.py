"""Values given to something that is named like a credential: ``api_key = …``, ``"password": "…"``.

The workshop refuses what looks like a secret; the home only what a machine made for machines, which
never is a password.
"""

import re
from typing import Final

from .names import is_credential_name, is_password_name
from .rules import Rule
from .values import (
    RANDOM_CHARACTERS,
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


_NAME: Final = re.compile(r"[\w-]{1,60}")


def _name(found: re.Match[str]) -> tuple[str, str]:
    """Return the whole name around an anchor, and the character before it."""
    text, at = found.string, found.start()
    before = text[max(0, at - _NAME_CHARACTERS) : at]
    begun = _NAME_BEFORE.search(before)
    head = begun[0] if begun else ""
    end = _NAME.match(text, at)
    previous = before[: len(before) - len(head)][-1:]
    return head + (end[0] if end else ""), previous


def _value(found: re.Match[str]) -> str:
    """Return the value without what ends a sentence, a call or an element of a list."""
    if found["separator"].strip(" *") == ">" and not found.string.startswith("</", found.end()):
        return ""  # An arrow or a placeholder, and no element of XML.
    return found["quoted"] or found["bare"].rstrip(").]}*,;")


def _is_secret(found: re.Match[str]) -> bool:
    value = _value(found)
    if value.isalpha() and len(value) < RANDOM_CHARACTERS and found["separator"] != "=":
        return False  # A word: what most often stands behind such a name.
    name, previous = _name(found)
    if not is_credential_name(name, bare_key=previous in _IN_AN_ADDRESS and bool(previous)):
        return False
    if not is_password_name(name):
        return looks_mixed(value) or (found["quote"] is not None and looks_random(value))
    if value.isdecimal() and name.lower() in _COUNTED:
        return False
    return looks_like_password(value) or _is_phrase(found, name) or _is_set(found, name)


def _is_phrase(found: re.Match[str], name: str) -> bool:
    """Return whether a quoted value is a passphrase of several words."""
    words = (found["quoted"] or "").split(" ")
    return (
        name.lower().endswith("passphrase")
        and len(words) >= _PHRASE_WORDS
        and all(word.isalpha() and word.islower() for word in words)
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
    value = _value(found)
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
