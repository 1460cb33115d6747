"""The addresses that a memory may be anchored to: none that opens a door by itself."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from .finding import Finding
from .names import is_credential_name
from .screening import screen

FIELD: Final = "url"
_SEPARATORS: Final = re.compile(r"[&;?#]")


def screen_anchor_url(url: str) -> Finding | None:
    """Return why an address must not be kept, or None.

    Refused are user and password before the host, and parameters in the query or the fragment that
    the words of their names call a credential, whatever their values.
    """
    # Browsers pass over these, and so would what is told by the rest.
    url = re.sub(r"[\t\r\n]", "", url.strip())
    try:
        parts = urlsplit(url)
    except ValueError:
        return screen(FIELD, url)
    authority = parts.netloc or re.split(r"[/?#\\]", re.sub(r"^[\w+.-]*:?[/\\]*", "", url))[0]
    if "@" in unquote(authority):
        return Finding(FIELD, "url-userinfo")
    for part in (parts.query, parts.fragment):
        for parameter in _SEPARATORS.split(part):
            name, given, _ = parameter.partition("=")
            if given and is_credential_name(unquote(name.rpartition("/")[2]), bare_key=True):
                return Finding(FIELD, "url-parameter")
    return screen(FIELD, url)
