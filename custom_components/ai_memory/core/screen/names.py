"""Whether something is named like a credential, judged by the words of its name.

``access_token``, ``apiKey`` and ``session_id`` are; ``author``, ``session_count``, ``page_token``
and ``public_key`` are not. Called for parameters of addresses and for assignments in texts.
"""

import re
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PASSWORDS: Final = _set(
    "password passwords passwd passwort kennwort pwd passphrase passcode pass psk pin"
)
_SECRETS: Final = _set(
    "secret secrets token jwt bearer sid sessid session cookie credential credentials creds auth"
    " authorization sig signature otp totp hmac"
)
_KEYS_OF: Final = _set(
    "api access private secret account auth authentication authorization encryption encrypt"
    " decryption master signing sign client server service storage shared sas app application"
    " admin deploy license licence network noise preshared wireguard ssh ssl tls pgp gpg age root"
    " session subscription webhook hmac security bearer user openai anthropic google maps azure"
    " stripe"
)
_NO_TOKEN_OF: Final = _set(
    "page next prev previous continuation sync pad eos bos unk mask sep cls special stop start end"
    " max min per input output prompt completion total design first last every each"
)
_CODES_OF: Final = _set("auth authorization otp verification pin access security")
_SESSIONS: Final = frozenset({"session", "sess"})
_FORMS: Final = _set("value string plain plaintext text data base b64 raw hash digest")
_JOINED: Final = re.compile(
    r"\w*(?:password|passwd|passphrase|secret|apikey|accesskey|secretkey|privatekey|sessionid|sessid"
    r"|(?<!page)(?<!next)(?<!sync)token)"
)


def is_password_name(name: str) -> bool:
    """Return whether a person's kind of secret is named: a password, passphrase or PIN."""
    words = _words(name)
    return bool(words) and (
        words[-1] in _PASSWORDS or words[-1].endswith(("password", "passwd", "passphrase"))
    )


def is_credential_name(name: str, *, bare_key: bool = False) -> bool:
    """Return whether the words of a name are a credential's; ``bare_key`` counts ``key`` alone."""
    words = _words(name)
    if not words:
        return False
    *before, last = words
    of = before[-1] if before else ""
    match last:
        case "token":
            return of not in _NO_TOKEN_OF
        case "key":
            return of in _KEYS_OF or (bare_key and not before)
        case "id":
            return of in _SESSIONS
        case "code":
            return of in _CODES_OF
    return last in _PASSWORDS or last in _SECRETS or _JOINED.fullmatch(last) is not None


def _words(name: str) -> list[str]:
    """Return the words of a name without those that only tell how it is written."""
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and words[-1] in _FORMS:
        words.pop()
    return words
