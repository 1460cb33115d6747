"""Secrets known by where they stand: in an address, a header, a command or a file of passwords.

``MACHINE_RULES`` find what only programs exchange; ``CONTEXT_RULES`` also what a person types.
"""

from base64 import b64decode
import re
from typing import Final

from .names import is_credential_name
from .rules import Accept, Rule, always
from .values import is_placeholder, looks_like_password, looks_random, looks_very_random

_SAID_TO_BE_ONE: Final = frozenset({"digest", "negotiate", "token", "bearer", "basic", "none"})


def _has_password(found: re.Match[str]) -> bool:
    return not is_placeholder(found[1])


def _has_any(found: re.Match[str]) -> bool:
    return looks_like_password(found[1]) or looks_random(found[1])


def _has_random(found: re.Match[str]) -> bool:
    return looks_very_random(found[1])


def _is_basic(found: re.Match[str]) -> bool:
    """Return whether a header's value is a name and a password."""
    try:
        pair = b64decode(found[1] + "=" * (-len(found[1]) % 4), validate=True).decode("ascii")
    except ValueError:
        return False
    _, colon, password = pair.partition(":")
    return bool(colon and password) and pair.isprintable()


def _is_authorization(found: re.Match[str]) -> bool:
    return found[1].lower() not in _SAID_TO_BE_ONE and _has_any(found)


def _is_aws_secret(found: re.Match[str]) -> bool:
    # One that begins with a slash must not be taken for a path.
    return looks_very_random(found[1].lstrip("/"))


def _is_cookie(found: re.Match[str]) -> bool:
    values = (pair.partition("=")[2].strip() for pair in found[1].split(";"))
    return any(looks_random(value) for value in values)


def _is_flag(found: re.Match[str]) -> bool:
    if not is_credential_name(found["name"]):
        return False
    value = found["quoted"] or found["bare"] or ""
    return looks_like_password(value) or looks_random(value)


def _rule(name: str, anchors: str, pattern: str, accept: Accept = _has_any) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    return Rule(
        name=name,
        anchors=tuple(anchors.split()),
        pattern=compiled,
        accept=accept,
        caseless=True,
    )


MACHINE_RULES: Final = (
    _rule(
        "url-password",
        "://",
        # A password may hold an @, and the last one ends it.
        r"""://[^\s/@:"'<>`]{0,128}:([^\s/"'<>`]{1,256})@[\w.\[-]""",
        _has_password,
    ),
    _rule("url-token", "://", r"://([\w~.+%-]{20,256})(?::x-oauth-basic)?@[\w.\[-]", _has_random),
    _rule(
        "bearer-token",
        "bearer",
        r"""bearer[\s:="'\\]{1,6}([\w.~+/-]{20,2000}={0,4})""",
        _has_random,
    ),
    _rule("basic-credentials", "basic", r"basic\s{1,3}([a-z0-9+/]{6,512}={0,2})", _is_basic),
    _rule(
        "aws-secret-key",
        "secret_access_key secretaccesskey secret_key secretkey aws_secret",
        r"""(?:aws_)?secret_?(?:access_?)?key[\\"'\]]{0,4}\s{0,4}[:=]>?\s{0,4}[\\"']{0,4}
        ((?=[^\s"']{0,39}[0-9+/])[a-z0-9/+]{40})(?![a-z0-9/+=])""",
        _is_aws_secret,
    ),
    _rule(
        "authorization-token",
        "authorization private-token x-api-key x-auth-token x-ha-access x-vault-token",
        r"""[\w-]{8,20}[\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\"']{0,4}
        (?:token|bearer|basic|apikey|key|bot)?[\s=]{0,3}([\w.~+/-]{20,512}={0,4})""",
        _has_random,
    ),
    _rule(
        "one-time-password-secret", "otpauth:", r"otpauth://\S{1,200}?secret=[a-z2-7]{8}", always
    ),
    _rule(
        "network-key",
        "encryption: network_key",
        r"""(?:encryption:\s{1,40}key:\s{1,4}["']?[a-z0-9+/]{43}=
        |network_key["']?\s{0,4}[:=][\s\[-]{0,12}(?:(?:0x)?[0-9a-f]{1,3}[\s,-]{1,12}){15}[0-9a-f]{1,3})""",
        always,
    ),
    _rule(
        "connection-string",
        "password pwd",
        r"""(?<=[;\s])(?:password|pwd)\s?=\s?([^\s;"'<>{}]{3,128})(?=;)""",
        _has_password,
    ),
)
"""What only programs sign in with; also refused where a household's own secrets are welcome."""

CONTEXT_RULES: Final = (
    _rule(
        "authorization-header",
        "authorization",
        r"""authorization[\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\"']{0,4}
        (?:[a-z]{3,10}\s{1,3})?([^\s"',;:\\]{6,256})""",
        _is_authorization,
    ),
    _rule("cookie-header", "cookie:", r"cookie:\s{0,4}([^\n\"':]{8,600})", _is_cookie),
    _rule(
        "command-flag",
        "--",
        r"""--(?P<name>[a-z][\w-]{2,40})(?:=|\s{1,4})
        (?:(["'])(?P<quoted>[^"'\n]{1,256})\2|(?P<bare>[^\s"'`|;&<>]{1,256}))""",
        _is_flag,
    ),
    _rule(
        "curl-user",
        "curl",
        r"curl\b[^\n|;]{0,120}?\s(?:-u|--user)[\s=]{1,3}[\"']?[^\s:\"']{1,64}:([^\s\"']{1,128})",
        _has_password,
    ),
    _rule(
        "mysql-password",
        "mysql mariadb",
        r"""(?:mysql|mariadb)[\w-]{0,12}\s[^\n|;]{0,120}?(?<=\s)-p[=]?["']?([^\s"']{4,128})""",
    ),
    _rule(
        "command-flag",
        "sshpass",
        r"""sshpass\s{1,3}-p\s{0,3}["']?([^\s"']{3,128})""",
        _has_password,
    ),
    _rule(
        "command-flag",
        "docker podman helm skopeo",
        r"""(?:docker|podman|helm|skopeo)\s[^\n|;]{0,40}?login\b[^\n|;]{0,80}?\s-p[\s=]["']?([^\s"']{6,256})""",
    ),
    _rule(
        "netrc",
        "machine",
        r"machine\s{1,4}\S{1,100}\s{1,8}login\s{1,4}\S{1,100}\s{1,8}password\s{1,4}(\S{1,200})",
        _has_password,
    ),
    _rule("netrc", "login", r"login\s{1,4}\S{1,100}\s{1,8}password\s{1,4}(\S{1,200})"),
    _rule(
        "pgpass",
        ":5432: :5433: :6432: :*:",
        r"(?<=[\w.*]):(?:\d{4}|\*):[\w*-]{1,64}:[\w*-]{1,64}:([^\s:]{3,128})",
        _has_password,
    ),
    _rule(
        "sql-password",
        "identified password",
        r"""(?:identified\s{1,3}(?:with\s\w{1,40}\s)?by|password)\s{1,3}'([^'\n]{3,128})'""",
        _has_password,
    ),
    _rule("wifi-code", "wifi:", r"wifi:[^\n]{0,120}?(?<=[:;])p:([^;\n]{4,64});", _has_password),
    _rule(
        "recovery-phrase",
        "seed recovery mnemonic",
        r"(?:seed|recovery|mnemonic)(?:\s(?:phrase|words?))?\s{0,2}(?:is|are|[:=])\s{0,3}[\"']?"
        r"(?:[a-z]{3,8}[\s,]{1,3}){11,23}[a-z]{3,8}",
        always,
    ),
)
"""What people type and files hold; refused in the workshop."""
