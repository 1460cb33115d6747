"""What the columns of a table are called in the languages of the house, and its scopes.

``csv_table`` and ``fields`` ask here: a spreadsheet that a person keeps has headings in the
language of that person. English names, of which programs have many, are in ``fields``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..models import Scope
from ..text_folding import fold

AMBIGUOUS: Final = "data"
"""A date in Italian, Polish and Portuguese, a text in English; a date beside another text."""

# German, Spanish, French, Italian, Dutch, Polish, Portuguese, Japanese, Chinese.
_COLUMNS: Final = {
    "content": (
        "Inhalt Erinnerung Fakt Notiz Contenido Texto Recuerdo Hecho Nota Contenu Texte Souvenir"
        " Contenuto Testo Ricordo Inhoud Tekst Herinnering Feit Notitie Treść Wspomnienie Notatka"
        " Conteúdo Memória 内容 本文 テキスト 記憶 文本 记忆"
    ),
    "summary": (
        "Zusammenfassung Stichwörter Schlagwörter Resumen Résumé Riepilogo Riassunto Samenvatting"
        " Trefwoorden Podsumowanie Resumo 要約 摘要"
    ),
    "wing": "Flügel Ala Aile Vleugel Skrzydło ウィング 翼楼",
    "room": (
        "Raum Zimmer Sala Habitación Salle Pièce Stanza Kamer Ruimte Pokój Pomieszczenie 部屋 房间"
    ),
    "scope": (
        "Geltungsbereich Bereich Ámbito Alcance Portée Ambito Bereik Zakres Escopo 範囲 范围"
    ),
    "created": (
        "Datum Erstellt Fecha Creado Créé Creato Aangemaakt Utworzono Criado 日付 作成日 日期 创建"
    ),
}
_SCOPES: Final = {
    Scope.PRIVATE: (
        "private privat privado privada privé privée privato privata prywatne prywatny"
        " prywatna プライベート 非公開 私有"
    ),
    Scope.COMMON: (
        "common gemeinsam común commun commune comune gemeenschappelijk wspólne wspólny wspólna"
        " comum 共通 共享"
    ),
}

COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {fold(word): name for name, words in _COLUMNS.items() for word in words.split()}
)
SCOPES: Final[Mapping[str, Scope]] = MappingProxyType(
    {fold(word): scope for scope, words in _SCOPES.items() for word in words.split()}
)
