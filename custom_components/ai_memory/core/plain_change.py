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

from .fulltext import words_of
from .function_words import FUNCTION_WORDS
from .restatement import plain_words
from .text_folding import fold

LONGEST_CHARACTERS: Final = 120
"""A longer text says more than one thing."""
LEAST_UNSPACED: Final = 2
"""Characters that a subject must have beside the word for a code, in scripts without spaces."""

# One subject, one link, one value with a digit, and nothing after it.
_STATEMENT: Final = re.compile(
    r"(?P<subject>.+?)"
    r"(?:\s(?:is|ist|lautet|est|es|è|é|jest|brzmi)\s|\s?[:：=]\s?|\s—\s|(?:是|为|は)\s?)"
    r"(?P<value>(?=[!-~]*[0-9])(?:(?![:/])[!-~]){3,64})(?:です)?"
)
_SECRET: Final = re.compile(
    r"\b(?:\w*code|pin|password|passcode|passphrase|\w*passwort|\w*kennwort|\w*kombination"
    r"|geheimzahl|\w*wachtwoord|\w*combinatie|mot de passe|contrasena|clave|codigo|senha|codice"
    r"|combinazione|kod|hasło)\b"
    r"|密码|口令|暗証番号|パスワード|パスコード|コード"
)
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
    r"|\ba (?!senha\b|combinacao\b)|\b(?:an|one|some|any|every|each|other|another|second|third|also"
    r"|sometimes|maybe|perhaps|not|no|never|new|old|wrong|former|temporary|this|that|it|its|he|his"
    r"|she|her|they|their|you|your"
    r"|ein|eine|einer|eines|kein|keine|nicht|auch|manchmal|vielleicht|andere|anderer|weitere"
    r"|weiterer|zweite|zweiter|neu|neue|neuer|neues|alte|alter|altes|falsche|dieser|diese|dieses"
    r"|er|sie|sein|seine|ihr|ihre|dein|deine"
    r"|un|une|autre|aussi|parfois|pas|non|jamais|nouveau|nouvelle|ancien|ancienne|ce|cette|il|elle"
    r"|son|sa|ses|leur|ton|ta|votre"
    r"|uno|una|otro|otra|tambien|nunca|nuevo|nueva|antiguo|antigua|este|esta|ese|esa|su|sus|tu"
    r"|altro|altra|anche|forse|mai|nuovo|nuova|vecchio|vecchia|questo|questa|suo|sua|tuo|tua"
    r"|een|ander|andere|ook|soms|misschien|niet|geen|nooit|nieuwe|oude|deze|dit|zijn|haar|hun|jouw"
    r"|jeden|inny|inna|inne|drugi|druga|tez|takze|czasem|nie|nigdy|nowy|nowa|nowe|stary|stara|stare"
    r"|ten|ta|to|jego|jej|ich|twoj|twoja|twoje"
    r"|um|uma|outro|outra|tambem|talvez|nao|novo|nova|antigo|antiga|esse|essa|seu|teu)\b"
)
# Whose it is depends on who speaks.
_SPEAKERS: Final = re.compile(
    r"\b(?:i|my|mine|me|user|users|mein|meine|meines|meiner|nutzer|benutzer|nutzers|benutzers"
    r"|mon|ma|mes|utilisateur|mi|mis|mio|la mia|usuario|utente|mijn|gebruiker|moj|moja|moje"
    r"|uzytkownik|uzytkownika|meu|minha)\b|我|用户|私|僕|俺|ユーザー"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """What has a value, and the words around it."""

    frame: tuple[str, str]
    subject: str
    value: str


def changes_a_code(old: str, new: str, *, speaker_known: bool) -> bool:
    """Return whether the new text says the same as the old one but for the value of a code.

    Where the speaker is not known, "my code" may be anybody's.
    """
    before, after = _statement(old), _statement(new)
    if before is None or after is None or before.frame != after.frame:
        return False
    if before.value.strip("!?.,;") == after.value.strip("!?.,;"):
        return False
    subject = fold(after.subject)
    if not _SECRET.search(subject) or _SEVERAL.search(subject):
        return False
    return _says_what_opens(subject) and (speaker_known or not _SPEAKERS.search(subject))


def _statement(text: str) -> _Statement | None:
    if len(text) > LONGEST_CHARACTERS:
        return None
    plain = " ".join(plain_words(text))
    found = _STATEMENT.fullmatch(plain)
    if found is None:
        return None
    start, end = found.span("value")
    return _Statement((plain[:start], plain[end:]), found["subject"], found["value"])


def _says_what_opens(subject: str) -> bool:
    """Return whether a folded subject tells more than that there is a code."""
    words = [word for word in words_of(subject) if word not in FUNCTION_WORDS]
    unspaced = re.sub(r"[\x00-\u2fff]|的|の", "", _SECRET.sub("", subject))
    return bool(set(words) - _BARE) or len(unspaced) >= LEAST_UNSPACED
