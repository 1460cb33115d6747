"""Whether a question asks how something was at first, not how it is now.

Search asks here once per query: of two memories that say how things are, the newer one counts more,
unless the question wants the older. The expressions are data, folded as ``text_folding.fold`` does.
"""

import re
from typing import Final

from .text_folding import fold

READ_CHARACTERS: Final = 500

_SPACED: Final = """
    originally|initially|at first|formerly|before it was|before it changed|before the change
    first planned
    ursprunglich|anfangs|ehemals|bevor es geandert|bevor er geandert|bevor sie geandert
    vor der anderung|vor dem umzug
    a l'origine|au depart|initialement|autrefois|avant le changement
    originalmente|inicialmente|anteriormente|al principio|antes del cambio
    originariamente|inizialmente|in origine|prima del cambiamento
    oorspronkelijk|aanvankelijk|voorheen|eerst zijn|eerst gepland
    pierwotnie|poczatkowo|dawniej
    no comeco|no inicio|antes da mudanca
    ursprungligen|fran borjan
    alun perin|aluksi
    ilk basta|baslangicta|eskiden
    первоначально|изначально|сначала назначали|назначали сначала
    спочатку планували|первісно
    puvodne
    αρχικα
    أصلا|في البداية
    मूल रूप से
"""
_UNSPACED: Final = "最早|最初|原来|原本|当初|元々|もともと|원래"

_EXPRESSIONS: Final = [fold(one.strip()) for one in re.split(r"[|\n]", _SPACED) if one.strip()]
_EARLIER: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_EXPRESSIONS)})(?!\w)|{_UNSPACED}")


def asks_for_earlier(query: str) -> bool:
    """Return whether the query asks for how things were before they changed."""
    return _EARLIER.search(fold(query[:READ_CHARACTERS])) is not None
