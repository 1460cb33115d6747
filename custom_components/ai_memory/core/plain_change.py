"""Recognising that a new memory tells the new value of a code, a PIN or a password.

``similar`` asks before it lets one memory replace another that nobody named. Deliberately strict:
losing a fact would be far worse than keeping it twice, and what is not recognised is named to the
caller all the same. Only what opens a thing has one value at a time by its nature; a time, a place,
a name or a reading may have several. The words that mark such a statement are data, folded as
``text_folding.fold`` does, in the languages of the translations.
"""

from dataclasses import dataclass
import re
from typing import Final

from .change_words import (
    BECAME,
    CHANGED_AROUND,
    CHANGED_TO,
    FIXTURES,
    NEW_AFTER,
    NEW_BEFORE,
    NOW_SPACED,
    NOW_UNSPACED,
)
from .fulltext import words_of
from .function_words import FUNCTION_WORDS
from .restatement import plain_words
from .text_folding import fold

LONGEST_CHARACTERS: Final = 120
"""A longer text says more than one thing."""
LEAST_UNSPACED: Final = 2
"""Characters that a subject must have beside the word for a code, in scripts without spaces."""

# One subject, one link, one value with a digit, and nothing after it but that it is so now.
_VALUE: Final = r"(?P<value>(?=[!-~]*[0-9])(?:(?![:/])[!-~]){3,64})"
_LINK: Final = (
    r"\s(?:is|ist|lautet|est|es|è|é|jest|brzmi|(?P<polish>to))\s|\s?[:：=]\s?|\s—\s|(?:是|为|は)\s?"
)
_STATEMENTS: Final = (
    re.compile(
        rf"(?P<subject>.+?)(?:\s(?:{NOW_SPACED})|{NOW_UNSPACED})?(?:{CHANGED_TO}|{_LINK})"
        rf"(?:(?:{NOW_SPACED})\s|(?:{NOW_UNSPACED})、?)?{_VALUE}"
        rf"(?:\s(?:{NOW_SPACED})|です|{BECAME})?",
        re.IGNORECASE,
    ),
    re.compile(rf"(?P<subject>.+?){_VALUE.join(CHANGED_AROUND)}(?P<polish>)", re.IGNORECASE),
    # Said first that it is so now, a Germanic sentence turns around.
    re.compile(
        rf"(?:{NOW_SPACED})\s(?:is|ist|lautet)\s(?P<subject>.+?)\s{_VALUE}(?P<polish>)",
        re.IGNORECASE,
    ),
)
_LEADING_NOW: Final = re.compile(
    rf"(?:(?:{NOW_SPACED}),?\s|(?:{NOW_UNSPACED})[,，、]?)(?!(?:is|ist|lautet)\s)", re.IGNORECASE
)
_POLISH_CODE: Final = re.compile(r"\b(?:kod|hasło|pin do)\b", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"\b(?:\w*code|pin|password|passcode|passphrase|\w*passwort|\w*kennwort|\w*kombination"
    r"|geheimzahl|\w*wachtwoord|\w*combinatie|mot de passe|contrasena|clave|codigo|senha|codice"
    r"|combinazione|kod|hasło)\b"
    r"|密码|口令|暗証番号|パスワード|パスコード|コード"
)
_JOINED: Final = re.compile(r"\A(?:\w+-)+")
_BARE: Final = frozenset(
    {
        "code",
        "pin",
        "pincode",
        "password",
        "passcode",
        "passphrase",
        "passwort",
        "kennwort",
        "kombination",
    }
    | {"geheimzahl", "wachtwoord", "combinatie", "mot", "passe", "contrasena", "clave", "codigo"}
    | {"senha", "codice", "combinazione", "kod", "hasło"}
)
"""A subject must say more than that: what the code opens."""

# Whatever could be said of several: faults, vouchers, one among others, what is not so.
_SEVERAL: Final = re.compile(
    r"error|fault|fehler|storung|erreur|errore|fout|storing|bład|erro|falla|fallo|故障|错误|エラー"
    r"|voucher|coupon|promo|discount|rabatt|gutschein|remise|descuento|sconto|korting|znizk|rabat"
    r"|desconto|优惠|折扣|割引|クーポン|[不没另别其也又新旧它这那此別他彼]|この|その|あの|古い|も"
    r"|以前|之前|前の|上次"
    r"|\ba (?!senha\b|combinacao\b)|\b(?:an|one|some|any|every|each|other|another|second|third|also"
    r"|sometimes|maybe|perhaps|not|no|never|new|old|wrong|former|temporary|previous|prior|earlier"
    r"|last|original|initial|may|might|could|would|should|will|if|this|that|it|its|he|his"
    r"|she|her|they|their|you|your"
    r"|ein|eine|einer|eines|kein|keine|nicht|auch|manchmal|vielleicht|andere|anderer|weitere"
    r"|weiterer|zweite|zweiter|neu|neue|neuer|neues|alte|alter|altes|falsche|dieser|diese|dieses"
    r"|er|sie|sein|seine|ihr|ihre|dein|deine|vorige[rs]?|vorherige[rs]?|fruhere[rs]?|bisherige[rs]?"
    r"|letzte[rs]?|ursprungliche[rs]?|neuen|neuem|alten|altem"
    r"|un|une|autre|aussi|parfois|pas|non|jamais|nouveau|nouvelle|ancien|ancienne|ce|cette|il|elle"
    r"|son|sa|ses|leur|ton|ta|votre|precedent|precedente|vieux|vieille|dernier|derniere|nouvel"
    r"|uno|una|otro|otra|tambien|nunca|nuevo|nueva|antiguo|antigua|este|esta|ese|esa|su|sus|tu"
    r"|anterior|viejo|vieja|ultimo|ultima"
    r"|altro|altra|anche|forse|mai|nuovo|nuova|vecchio|vecchia|questo|questa|suo|sua|tuo|tua"
    r"|precedente|scorso|scorsa"
    r"|een|ander|andere|ook|soms|misschien|niet|geen|nooit|nieuw|nieuwe|oud|oude|deze|dit|zijn|haar"
    r"|hun|jouw|vorige|laatste"
    r"|jeden|inny|inna|inne|drugi|druga|tez|takze|czasem|nie|nigdy|nowy|nowa|nowe|stary|stara|stare"
    r"|ten|ta|to|jego|jej|ich|twoj|twoja|twoje|poprzedni|poprzednia|poprzednie|dawny|dawna|dawne"
    r"|nowego|nowej|starego|starej"
    r"|um|uma|outro|outra|tambem|talvez|nao|novo|nova|antigo|antiga|velho|velha|esse|essa|seu|teu)\b"
)
# Whose it is depends on who speaks.
_SPEAKERS: Final = re.compile(
    r"\b(?:i|my|mine|me|user|users|mein|meine|meines|meiner|nutzer|benutzer|nutzers|benutzers"
    r"|mon|ma|mes|utilisateur|mi|mis|mio|la mia|usuario|utente|mijn|gebruiker|moj|moja|moje"
    r"|uzytkownik|uzytkownika|meu|minha)\b|我|用户|私|僕|俺|ユーザー"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """What has a value."""

    subject: str
    value: str


def changes_a_code(old: str, new: str, *, speaker_known: bool) -> bool:
    """Return whether the new text says the same as the old one but for the value of a code.

    Words that only say that it changed make no difference. Where the speaker is not known, "my
    code" may be anybody's.
    """
    before, after = _statement(old), _statement(new)
    if before is None or after is None or before.subject != after.subject:
        return False
    if before.value.strip("!?.,;") == after.value.strip("!?.,;"):
        return False
    subject = fold(before.subject)
    if not _SECRET.search(subject) or _SEVERAL.search(subject):
        return False
    return _says_what_opens(subject) and (speaker_known or not _SPEAKERS.search(subject))


def _statement(text: str) -> _Statement | None:
    if len(text) > LONGEST_CHARACTERS:
        return None
    plain = " ".join(plain_words(text))
    if (leading := _LEADING_NOW.match(plain)) is not None:
        plain = " ".join(plain_words(plain[leading.end() :]))
    for form in _STATEMENTS:
        found = form.fullmatch(plain)
        if found is None or (found["polish"] and not _POLISH_CODE.search(found["subject"])):
            continue
        return _Statement(_without_new(" ".join(plain_words(found["subject"]))), found["value"])
    return None


def _without_new(subject: str) -> str:
    """Return a subject without the word that says of the code itself that it is new."""
    subject = FIXTURES.sub("", subject)
    for found in NEW_BEFORE.finditer(subject):
        if _SECRET.match(_JOINED.sub("", fold(subject[found.end() :]))):
            return subject[: found.start()] + subject[found.end() :]
    for found in NEW_AFTER.finditer(subject):
        if any(one.end() == found.start() for one in _SECRET.finditer(fold(subject))):
            return subject[: found.start()] + subject[found.end() :]
    return subject


def _says_what_opens(subject: str) -> bool:
    """Return whether a folded subject tells more than that there is a code."""
    words = [word for word in words_of(subject) if word not in FUNCTION_WORDS]
    unspaced = re.sub(r"[\x00-\u2fff]|的|の", "", _SECRET.sub("", subject))
    return bool(set(words) - _BARE) or len(unspaced) >= LEAST_UNSPACED
