"""Secrets as people say them: "the Wi-Fi password is …", "der Code der Alarmanlage ist …".

The workshop refuses these; in the home they are facts that its owner may want remembered.
"""

import re
from typing import Final

from .rules import Rule
from .values import looks_like_password

_PASSWORDS: Final = (
    "password passwort kennwort passcode passphrase passwd wachtwoord hasło hasla contraseña"
    " contrasena clave senha"
)
_PASSWORD_WORDS: Final = "|".join(_PASSWORDS.split())
_IS: Final = r"(?:(?:is|was|ist|lautet|heißt|est|es|é|è|to|jest|brzmi|als)[ ]{1,2}|:[ ]{0,2})"
_OPENED: Final = re.compile(
    r"""
    \b(?:alarm\w*|garage\w*|garaje|garagem|door|gate|entry|safe|lock|keypad
    |disarm\w*|bike|t[üu]r\w*|tor\w*|haus\w*|tresor\w*|schlo(?:ss|ß)\w*|porte|portail|coffre|entr[ée]e
    |puerta|cancello|porta|port[ãa]o|cofre|caja|cassaforte|deur\w*|voordeur|kluis|huis
    |drzwi|bram[aya]|sejf\w*|sim|tablet)\b
    |アラーム|玄関|ガレージ|金庫|暗証|车库|門|门|报警|保险
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AROUND_CHARACTERS: Final = 60


def _has_password(found: re.Match[str]) -> bool:
    return looks_like_password(found[1])


def _opens_something(found: re.Match[str]) -> bool:
    if found["pin"]:
        return True
    around = found.string[max(0, found.start() - _AROUND_CHARACTERS) : found.end()]
    return _OPENED.search(around) is not None


SPOKEN_RULES: Final = (
    Rule(
        name="spoken-password",
        anchors=tuple(_PASSWORD_WORDS.split("|")),
        pattern=re.compile(
            rf"""(?:{_PASSWORD_WORDS})s?[^\n.!?=&/<>]{{0,48}}?(?<![a-z]){_IS}["'“„«`]?
            ([^\s"'”“»`:]{{4,64}})""",
            re.IGNORECASE | re.VERBOSE,
        ),
        accept=_has_password,
        caseless=True,
    ),
    Rule(
        name="spoken-password",
        anchors=("mot de passe",),
        pattern=re.compile(
            rf"""mot\ de\ passe[^\n.!?=&/<>]{{0,48}}?(?<![a-z]){_IS}["'“«]?
            ([^\s"'”»]{{4,64}})""",
            re.IGNORECASE | re.VERBOSE,
        ),
        accept=_has_password,
        caseless=True,
    ),
    Rule(
        name="spoken-password",
        anchors=("パスワード", "密码", "密碼", "口令", "暗証番号"),
        pattern=re.compile(
            r"""[^\W\d]{2,12}?(?:は|是|为|為|:)[ ]?["「“『]?([!-~]{4,64})""",
            re.VERBOSE,
        ),
        accept=_has_password,
    ),
    Rule(
        name="spoken-code",
        anchors=("pin", "code", "código", "codigo", "codice", "kod", "暗証番号", "番号", "密码"),
        pattern=re.compile(
            r"""(?:(?<![a-z])(?P<pin>pin(?:[ -]?(?:code|number|nummer))?|暗証番号)
            |(?:code|c[óo]digo|codice|kod|番号|密码))(?![a-z])
            [^\n.!?\d]{0,40}?(?<![\w.\#-])\d{4,8}[\#*]?(?![\w-]|[.,:]\d)""",
            re.IGNORECASE | re.VERBOSE,
        ),
        accept=_opens_something,
        caseless=True,
    ),
)
