"""Whether a value is a secret by its looks, or only stands where one would.

Called by the rules with what stands behind a name, a header or a flag. Placeholders of templates
and documentation, expressions of code, names and figures are no secrets.
"""

from math import log2
import re
from typing import Final

LOOKED_AT_CHARACTERS: Final = 128
RANDOM_CHARACTERS: Final = 16
"""From this length on a value is taken for made by a machine if its characters are mixed enough."""
_LONG_RANDOM_CHARACTERS: Final = 20
_PASSWORD_CHARACTERS: Final = 6
_NUMBER_CHARACTERS: Final = 4
_LEAST_ENTROPY_BITS: Final = 2.9
_LETTERS_ALONE_CHARACTERS: Final = 24

_PLACEHOLDER: Final = re.compile(
    r"""
    [\W_]* | (.)\1* | (?:x|\*|\.|0)+                        # nothing but marks, or one character
    | [<{\[(].*                                             # <token>, {token}, [REDACTED]
    | \$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|[{(].*|env:.*)          # $VAR, ${VAR}, $(command)
    | %(?:[sdr]|\(.*|[A-Z_]+%)                              # %s, %(token)s, %TOKEN%
    | ![a-z_]+ | @[\w./-]+\.(?:txt|json|key|pem) | &\w+      # !secret of YAML, a file, an anchor
    | (?:~|\.{1,2})?(?:/[\w.-]+)+/?                         # a path
    | (?:os|process|env|environ|config|self|this|settings|ctx|args|opts|options|request|req|secrets
      |vault|keyring|import|getpass|input|await|new|hass|entry|std|crypto)[.\[(].*
    | [A-Za-z_]+(?:\.[A-Za-z_]+)+ | [A-Za-z_][\w.]*[\[(].*               # config.token, get_token()
    | (?:op|env|vault|file|arn|https?|ref\+\w+|sha\d+|keyring|sops|gpg|ssm|secret)[:+].*
    | (?:your|my|the|some|any|insert|enter|dummy|fake|sample)[-_ ].*
    | (?:your|dummy|fake|sample|insert)\w*
    | (?:none|null|nil|true|false|undefined|string|str|bytes|text|int|integer|required|optional
      |hidden|masked|removed|test|todo|tbd|n/a|unset|empty|default|value|user|username|admin)
    | (?:pass|passwd|password|pwd|secret|token|key|api_?key)(?:word)?\d?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MARKS: Final = (
    *("example", "placeholder", "redacted", "changeme", "change-me", "change_me"),
    *("xxxx", "***", "...", "<", ">", "{{"),
)
"""What shows anywhere in a value that it is none."""
_FILLER: Final = re.compile(
    r"x{4}|\*{3}|\.{3}|0{10}|example|placeholder|redacted|your[-_]|[-_]here\b", re.IGNORECASE
)
_FIGURE: Final = re.compile(
    r"""
    [~<>=^]{0,2}v?\d+(?:[.:/x_-]\d+)*(?:[a-z]{1,5}|%)?      # 12h, 3.14.8, 2026-11-30, 8-64
    | (?:u?int|float|bytes|sha|argon|bcrypt|pbkdf|base|utf|[hrep]s|aes|oauth|http|ipv|md|tls|ed|x|v)
      -?\d+\w*(?:-\w+)*                                     # names of types and algorithms
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORD: Final = re.compile(r"[A-Za-z]*\d{0,8}[a-z]?|[A-Za-z]{2,}\d[A-Z][a-z]+")
_CAMEL_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HEX: Final = re.compile(r"[0-9a-fA-F-]{16,}")
_PARTS: Final = re.compile(r"[-_./: ]+")
_MIXED: Final = re.compile(r"[\d!@#$%^&*+=?~§|]")


def is_placeholder(value: str) -> bool:
    """Return whether a value only stands where a secret would."""
    value = (
        value[:LOOKED_AT_CHARACTERS].lower() if value.isascii() else value[:LOOKED_AT_CHARACTERS]
    )
    return any(mark in value for mark in _MARKS) or _PLACEHOLDER.fullmatch(value) is not None


def is_filler(key: str) -> bool:
    """Return whether what has the shape of a vendor's key is one of documentation."""
    return _FILLER.search(key) is not None


def looks_like_password(value: str) -> bool:
    """Return whether a person or a machine may have chosen this to sign in with."""
    value = value.rstrip(".,;:)!?") if len(value) > _PASSWORD_CHARACTERS else value
    if value.isdecimal():
        return len(value) >= _NUMBER_CHARACTERS
    if len(value) < _PASSWORD_CHARACTERS or value.isalpha() or " " in value:
        return False
    if not _MIXED.search(value) or not any(map(str.isalpha, value)):
        return False
    return not is_placeholder(value) and _FIGURE.fullmatch(value) is None


def looks_random(value: str, least: int = RANDOM_CHARACTERS) -> bool:
    """Return whether a machine has made this: long, mixed, and neither a name nor a placeholder."""
    value = value[:LOOKED_AT_CHARACTERS]
    if len(value) < least or not value.isascii() or " " in value:
        return False
    return (
        not is_placeholder(value)
        and not _is_name(value)
        and entropy_bits(value) >= _LEAST_ENTROPY_BITS
    )


def looks_very_random(value: str) -> bool:
    """Return whether a machine has made this, and at such a length that nobody would say it."""
    return looks_random(value, _LONG_RANDOM_CHARACTERS)


def looks_mixed(value: str) -> bool:
    """Return whether a short value is one word with letters and digits, as secrets in files are."""
    return looks_random(value) or (
        len(value) > _PASSWORD_CHARACTERS
        and value.isalnum()
        and looks_like_password(value)
        and not (_WORD.fullmatch(value) and value[-1:].isdigit() and value[:-2].isalpha())
    )


def entropy_bits(value: str) -> float:
    """Return the bits of entropy of each character."""
    total = len(value)
    shares = [value.count(character) / total for character in set(value)]
    return -sum(share * log2(share) for share in shares)


def _is_name(value: str) -> bool:
    """Return whether a value is made of words: my-secret-name-v2, getTokenFromRequest."""
    if _HEX.fullmatch(value) and any(map(str.isdigit, value)):
        return value.isdecimal()
    parts = [part for part in _PARTS.split(value) if part]
    return all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    if not _WORD.fullmatch(part):
        return False
    words = _CAMEL_WORD.findall(part)
    letters = sum(map(len, words))
    if letters >= _LETTERS_ALONE_CHARACTERS and len(words) == 1:
        # Nothing that is written together is this long, save in code: theirs has capitals.
        return entropy_bits(part) < _LEAST_ENTROPY_BITS
    return not words or letters >= 3 * (len(words) - 1)
