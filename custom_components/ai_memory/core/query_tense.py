"""Whether a question asks how something was at first, not how it is now.

Search asks here once per query: of two memories that say how things are, the newer one counts more,
unless the question wants the older. The expressions are data, folded as ``text_folding.fold`` does.
"""

import re
from typing import Final

from .text_folding import fold

READ_CHARACTERS: Final = 500

_SPACED: Final = """
    originally|initially|at first|formerly|previously|earlier|used to|back then|before it
    before that|before the change|first planned|in the past
    ursprunglich|zuerst|zunachst|anfangs|fruher|vorher|damals|bevor
    a l'origine|au depart|au debut|initialement|d'abord|auparavant|autrefois|avant le changement
    originalmente|inicialmente|anteriormente|al principio|antes
    originariamente|originalmente|inizialmente|all'inizio|in precedenza|prima
    oorspronkelijk|aanvankelijk|eerst|vroeger|eerder|voorheen|voordat
    pierwotnie|poczatkowo|najpierw|wczesniej|przedtem|dawniej
    no comeco|no inicio
    ursprungligen|forst|tidigare|fran borjan
    alun perin|aluksi|aiemmin
    ilk basta|baslangicta|onceden|eskiden|daha once
    сначала|первоначально|изначально|раньше|прежде
    спочатку|раніше
    puvodne|nejdriv|drive|predtim
    αρχικα|πριν
    سابقا|في البداية|أصلا
    पहले
"""
_UNSPACED: Final = "最早|最初|原来|原本|以前|之前|当初|元々|もともと|前は|원래|처음|예전|이전"

_EXPRESSIONS: Final = [fold(one.strip()) for one in re.split(r"[|\n]", _SPACED) if one.strip()]
_EARLIER: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_EXPRESSIONS)})(?!\w)|{_UNSPACED}")


def asks_for_earlier(query: str) -> bool:
    """Return whether the query asks for how things were before they changed."""
    return _EARLIER.search(fold(query[:READ_CHARACTERS])) is not None
