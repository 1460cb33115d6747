"""Whether a question asks how something was at first, not how it is now.

Search asks here: of two memories that say how things are, the newer one counts more, unless the
question wants the older. Then what was replaced is looked through as well. The expressions are
regular ones, folded as ``text_folding.fold`` does.
"""

import re
from typing import Final

from .text_folding import fold

READ_CHARACTERS: Final = 500

_SPACED: Final = r"""
    originally|initially|at first|formerly|before it was|before it changed|before the change
    first planned|previous|previously|used to be|before that
    what (?:was|were) (?:the|our|my|\w+'s) old
    old (?:[\w-]+ ){0,2}(?:code|pin|password|passcode|combination|number|address|name|value)
    ursprunglich|anfangs|ehemals|bevor es geandert|bevor er geandert|bevor sie geandert
    vor der anderung|vor dem umzug|(?:vor|voran)gegangene[nrs]?|vorherige[nrs]?|zuvor
    (?:was|wie) (?:war|waren|lautete|hiess) (?:der|die|das|unsere?) (?:alt|vorig|fruher)e[nrs]?
    alte[nrs]? (?:\w*code|pin|\w*passwort|\w*kennwort|kombination|\w*nummer|adresse|termin)
    a l'origine|au depart|initialement|autrefois|avant le changement|auparavant|precedemment
    etai(?:t|ent) (?:l'|les? |la )?ancien(?:ne)?s?
    ancien(?:ne)? (?:code|mot de passe|numero|adresse|date|heure|nom)
    originalmente|inicialmente|anteriormente|al principio|antes del cambio
    eran? (?:el|la|los|las) (?:antigu[oa]|viej[oa]|anterior(?:es)?)s?
    (?:codigo|clave|contrasena|pin|numero|direccion|fecha) (?:antigu[oa]|viej[oa]|anterior)
    antigu[oa] (?:codigo|clave|contrasena|pin|numero|direccion)
    originariamente|inizialmente|in origine|prima del cambiamento|in precedenza|precedentemente
    era(?:no)? (?:il|la|i|le|l')\s?(?:vecchi[oae]?|precedent[ei])
    vecchi[oa] (?:codice|pin|password|combinazione|numero|indirizzo)
    (?:codice|pin|password|combinazione|numero|indirizzo|data) (?:precedente|vecchi[oa])
    oorspronkelijk|aanvankelijk|voorheen|eerst zijn|eerst gepland
    (?:was|waren) (?:de|het|onze?|mijn) (?:oude|vorige)
    (?:oude|vorige) (?:\w*code|\w*wachtwoord|\w*nummer|adres|datum)
    pierwotnie|poczatkowo|dawniej|poprzednio|uprzednio|był[aoy]? (?:star|poprzedn|dawn)\w+
    (?:stary|poprzedni|stare|poprzednie) (?:kod|pin|numer|adres|hasło|termin)
    no comeco|no inicio|antes da mudanca
    eram? (?:o|a|os|as) (?:antig[oa]|velh[oa]|anterior(?:es)?)s?
    (?:codigo|senha|pin|numero|endereco|data) (?:antig[oa]|velh[oa]|anterior)
    antig[oa] (?:codigo|senha|pin|numero|endereco)
    ursprungligen|fran borjan
    alun perin|aluksi
    ilk basta|baslangicta|eskiden|onceki|eski (?:kod|sifre|parola|numara|adres|pin)\w*
    первоначально|изначально|сначала назначали|назначали сначала|раньше был[аои]?
    был[аои]? (?:стар|прежн|предыдущ)\w+
    (?:старый|прежний|предыдущий) (?:код|пароль|номер|адрес|пин)\w*
    спочатку планували|первісно
    puvodne
    αρχικα
    أصلا|في البداية
    मूल रूप से
"""
_UNSPACED: Final = (
    "最早|最初|原来|原本|当初|元々|もともと|원래|旧的|旧密码|老密码|之前的|以前的|以前是|之前是|原先|先前"
    "|以前の|変更前|変わる前|(?:前の|古い|旧)(?:暗証番号|パスワード|コード|番号|住所)|예전"
)

_EXPRESSIONS: Final = [fold(one.strip()) for one in _SPACED.splitlines() if one.strip()]
_EARLIER: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_EXPRESSIONS)})(?!\w)|{_UNSPACED}")


def asks_for_earlier(query: str) -> bool:
    """Return whether the query asks for how things were before they changed."""
    return _EARLIER.search(fold(query[:READ_CHARACTERS])) is not None
