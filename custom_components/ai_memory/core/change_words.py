"""The words that only say that something changed, in the languages of the translations.

Data only. ``plain_change`` sets them aside where they belong to the code that is told, and
``similar`` does not count them; nothing is ever dropped from what is stored. What may be so for a
while only (*currently*, *for now*, *today*, *zurzeit*) is no such word.
"""

import re
from typing import Final

_NOW_SPACED: Final = """
    now|from now on|as of now
    jetzt|nun|ab jetzt|ab sofort|ab heute|von jetzt an|von nun an|künftig|fortan
    maintenant|à présent|désormais|dorénavant|à partir de maintenant
    ahora|desde ahora|a partir de ahora|de ahora en adelante
    ora|adesso|d'ora in poi|da ora|da adesso
    nu|voortaan|vanaf nu
    teraz|od teraz
    agora|a partir de agora|de agora em diante
"""
_NOW_UNSPACED: Final = "从现在起|从现在开始|现在|如今|今後|これから|今"


def _either(expressions: str) -> str:
    """Return one expression for any of those, the longest first."""
    words = [word.strip() for line in expressions.splitlines() for word in line.split("|")]
    return "|".join(sorted(filter(None, words), key=len, reverse=True))


NOW_SPACED: Final = _either(_NOW_SPACED)
NOW_UNSPACED: Final = _either(_NOW_UNSPACED)

NEW_BEFORE: Final = re.compile(
    r"\b(?:new|neue[rs]?|nouveau|nouvelle|nuev[oa]|nuov[oa]|nieuwe?|now[yae]|nov[oa])\s"
    r"|新しい|新的?",
    re.IGNORECASE,
)
"""Before the word for a code."""
NEW_AFTER: Final = re.compile(r"\s(?:nuev[oa]|nuov[oa]|now[yae]|nov[oa])\b", re.IGNORECASE)
"""Behind it."""
FIXTURES: Final = re.compile(
    r"\bnew\s(?=(?:(?:front|back|side|garage)\s)?(?:door|gate|entrance|alarm|safe|wifi|wlan"
    r"|internet|network)\s(?:code|pin|password|passcode|combination)\b)",
    re.IGNORECASE,
)
"""English leaves open what is new; of these it is hardly ever the thing that the code opens."""

CHANGED_TO: Final = (
    r"\s(?:(?:has|was|is|got)\s(?:now\s)?(?:been\s)?)?(?:changed|updated)(?:\sto|:)\s"
    r"|\s(?:a|est)\s(?:maintenant\s)?(?:été\s)?(?:changée?|modifiée?|passée?)\s(?:en|pour|à|:)\s"
    r"|\s(?:devient|est\sdevenue?)\s"
    r"|\s(?:ha\scambiado|cambió|se\scambió|se\sha\scambiado|ha\ssido\scambiad[oa])\s(?:a|por)\s"
    r"|\sè\s(?:ora\s)?(?:stat[oa]\s)?(?:cambiat[oa]|modificat[oa])\s(?:in|a)\s"
    r"|\sè\sdiventat[oa]\s"
    r"|\s(?:is|werd)\s(?:nu\s)?(?:veranderd|gewijzigd|aangepast)\s(?:in|naar)\s"
    r"|\s(?:zmienił[ao]?\ssię|został[ao]?\szmienion[yae]|zmieniono)\sna\s"
    r"|\s(?:mudou|foi\s(?:mudad[oa]|alterad[oa]))\spara\s"
    r"|\sgeändert(?:\s(?:auf|in)|:)\s"
    r"|(?:已经|已|现在)?(?:更改|变更|修改|更新|改|换|变)(?:为|成)了?\s?"
)
"""Between what changed and its new value."""
CHANGED_AROUND: Final = (
    r"\s(?:hat\ssich|wurde|ist)\s(?:(?:jetzt|nun)\s)?(?:auf|in|zu)\s",
    r"\s(?:geändert|gewechselt|umgestellt)(?:\sworden)?",
)
"""Before the new value and behind it."""
BECAME: Final = r"に(?:なりました|なった|変わりました|変わった|変更しました|変更されました)"

# As ``similar`` meets them, folded.
_CHANGE_WORDS: Final = """
    now new changed updated
    jetzt nun kunftig fortan sofort neu neue neuen neuer neues neuem geandert gewechselt umgestellt
    maintenant desormais dorenavant present partir nouveau nouvelle change changee modifie modifiee
    devient devenu devenue
    ahora adelante nuevo nueva cambiado cambiada cambio
    ora adesso poi nuovo nuova cambiato cambiata modificato modificata diventato diventata
    nu voortaan vanaf nieuw nieuwe veranderd gewijzigd aangepast
    teraz nowy nowa nowe nowej nowego zmienił zmieniło zmieniła zmieniony zmieniona zmienione
    zmieniono został została zostało
    agora diante novo nova mudou mudado mudada alterado alterada
"""
CHANGE_WORDS: Final = frozenset(_CHANGE_WORDS.split())
"""No memory is like another because both say that something changed."""
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_UNSPACED_CHANGE: Final = re.compile(
    "从现在起|从现在开始|现在|如今|今後|これから|今は|新しい|新的|新(?=密码|口令|暗証番号|コード)"
    f"|(?:更改|变更|修改|更新|改|换)(?:为|成)|{BECAME}"
)


def without_unspaced_change(text: str) -> str:
    """Return a text without what says in Chinese or Japanese that something changed."""
    return _UNSPACED_CHANGE.sub(" ", text) if _UNSPACED.search(text) else text
