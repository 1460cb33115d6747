"""Private keys and signed tokens: what opens doors by itself, whoever issued it.

Blocks are found with their line ends written out, without their end and without their beginning; a
heading alone, as documentation mentions it, is no key.
"""

import re
from typing import Final

from .rules import Rule

_BEFORE_CHARACTERS: Final = 160
_KEY_DATA: Final = re.compile(r"[A-Za-z0-9+/]{20,100}={0,2}[\s\\nr\"',+=]{0,12}\Z")
# How the DER of private keys and the file format of OpenSSH begin in base64.
_HEADLESS: Final = (
    "b3BlbnNzaC1rZXktdjE",
    "MIIEvQIBADAN MIIEvgIBADAN MIIEvAIBADAN MIIJQgIBADAN MIIJQwIBADAN MIIJRAIBADAN",
    "MIIEowIBAAK MIIEpAIBAAK MIIEpQIBAAK MIIJKAIBAAK MIIJKQIBAAK MIIJKgIBAAK",
    "MC4CAQAwBQYDK2Vw MIGHAgEAMBMGByqGSM49 MHcCAQEEI",
)


def _follows_data(found: re.Match[str]) -> bool:
    before = found.string[max(0, found.start() - _BEFORE_CHARACTERS) : found.start()]
    return _KEY_DATA.search(before) is not None


HEADLESS_KEYS: Final = Rule(
    name="private-key",
    anchors=tuple(" ".join(_HEADLESS).split()),
    pattern=re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}"),
)
JSON_WEB_TOKEN: Final = Rule(
    name="json-web-token",
    anchors=("eyJ",),
    pattern=re.compile(
        r"(?<![A-Za-z0-9_-])eyJ[\w-]{8,4000}+\."
        r"(?:eyJ[\w-]{8,8000}+(?:\.[\w-]{0,2000})?|[\w-]{0,2000}+\.[\w-]{8,100}\.[\w-]{8})",
        re.ASCII,
    ),
)
WORDS: Final = (HEADLESS_KEYS, JSON_WEB_TOKEN)
"""Rules for what stands in one long word."""

BLOCKS: Final = (
    Rule(
        name="private-key",
        anchors=("-----BEGIN",),
        pattern=re.compile(
            r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?=[\s\S]{0,300}?[A-Za-z0-9+/]{20})"
        ),
    ),
    Rule(
        name="private-key",
        anchors=("-----END",),
        pattern=re.compile(r"-----END[ A-Z0-9]{0,40}PRIVATE KEY"),
        accept=_follows_data,
    ),
    Rule(
        name="private-key",
        anchors=("PuTTY-User-Key-File-",),
        pattern=re.compile(r"PuTTY-User-Key-File-\d: [\w-]{4,40}"),
    ),
    Rule(
        name="google-service-account",
        anchors=("private_key_id",),
        pattern=re.compile(r"private_key_id[\\\"']{1,6}\s{0,4}:\s{0,4}[\\\"']{1,6}[a-f0-9]{40}"),
    ),
)
"""Rules for what goes over lines."""
