"""The options for coding agents: a section of the options' form, and the rules that it makes.

The flow shows the section and asks whether it is right; set-up turns what was saved into the
memory's rules. A damaged setting is the usual one: it must not keep the memory closed. The links,
hubs and renames of the section are in ``place_options``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    TextSelector,
)

from .core.namespaces import NamespaceRules, is_forge, is_owner
from .core.workshop_places import WorkshopPlaces
from .core.workshop_rules import (
    CONTEXT_TOKENS_MAXIMUM,
    CONTEXT_TOKENS_MINIMUM,
    WorkshopRules,
)
from .ha_compat import vol
from .place_options import (
    PLACE_KEYS,
    PLACES_MAXIMUM,
    checked_places,
    place_fields,
    places_of,
)

CONF_WORKSHOP: Final = "workshop"
CONF_GITHUB_OWNER: Final = "github_owner"
CONF_FORGE_HOSTS: Final = "forge_hosts"
CONF_FORGE_OWNER: Final = "forge_owner"
CONF_CONTEXT_TOKENS: Final = "context_budget_tokens"
CONF_HARD_LIMIT_TOKENS: Final = "hard_context_limit_tokens"
CONF_SUMMARY_CANDIDATES: Final = "summary_candidates"
FORGE_HOSTS_MAXIMUM: Final = 20

USUAL: Final = WorkshopRules()
_TOKENS: Final = NumberSelector(
    NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=1, unit_of_measurement="tokens")
)
_HOSTS: Final = SelectSelector(SelectSelectorConfig(options=[], multiple=True, custom_value=True))


def workshop_field() -> dict[vol.Marker, object]:
    """Return the section as the options' form has it, closed until somebody opens it."""
    schema = vol.Schema(_rule_fields() | place_fields())
    return {vol.Required(CONF_WORKSHOP, default={}): section(schema, {"collapsed": True})}


def _rule_fields() -> dict[vol.Marker, object]:
    return {
        vol.Optional(CONF_GITHUB_OWNER): TextSelector(),
        vol.Optional(CONF_FORGE_HOSTS): _HOSTS,
        vol.Optional(CONF_FORGE_OWNER): TextSelector(),
        vol.Required(CONF_CONTEXT_TOKENS, default=USUAL.context_budget_tokens): _TOKENS,
        vol.Required(CONF_HARD_LIMIT_TOKENS, default=USUAL.hard_context_limit_tokens): _TOKENS,
        vol.Required(CONF_SUMMARY_CANDIDATES, default=USUAL.summary_candidates): BooleanSelector(),
    }


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with the section: the key of the text, and what the text fills in.

    The form cannot point at a field within a section, so the text names it.
    """

    key: str
    placeholders: Mapping[str, str] = field(default_factory=dict)


def checked_workshop(sent: Mapping[str, Any]) -> tuple[dict[str, Any], Wrong | None]:
    """Return the section as it is saved, and what is wrong with it, if anything."""
    saved, error = _checked_rules(sent)
    places, refusal = checked_places(sent)
    if error is not None:
        return saved | places, Wrong(error)
    if refusal is not None:
        return saved | places, Wrong(refusal.key, {"entry": refusal.entry})
    return saved | places, None


def _checked_rules(sent: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    hosts = [host.strip().lower() for host in sent.get(CONF_FORGE_HOSTS, ()) if host.strip()]
    texts: dict[str, Any] = {
        name: owner
        for name in (CONF_GITHUB_OWNER, CONF_FORGE_OWNER)
        if (owner := sent.get(name, "").strip().lower())
    }
    usual, most = sent[CONF_CONTEXT_TOKENS], sent[CONF_HARD_LIMIT_TOKENS]
    saved = {
        **texts,
        **({CONF_FORGE_HOSTS: list(dict.fromkeys(hosts))} if hosts else {}),
        CONF_CONTEXT_TOKENS: usual,
        CONF_HARD_LIMIT_TOKENS: most,
        CONF_SUMMARY_CANDIDATES: sent[CONF_SUMMARY_CANDIDATES],
    }
    if not all(map(is_owner, texts.values())):
        return saved, "forge_owner_invalid"
    if len(hosts) > FORGE_HOSTS_MAXIMUM or not all(map(is_forge, hosts)):
        return saved, "forge_hosts_invalid"
    if not CONTEXT_TOKENS_MINIMUM <= usual <= most <= CONTEXT_TOKENS_MAXIMUM:
        return saved, "context_tokens_out_of_range"
    return saved | {CONF_CONTEXT_TOKENS: int(usual), CONF_HARD_LIMIT_TOKENS: int(most)}, None


def workshop_rules(settings: Mapping[str, Any]) -> WorkshopRules:
    """Return the rules that the settings in force make."""
    sent = settings.get(CONF_WORKSHOP, {})
    if isinstance(sent, Mapping):
        sent = {name: value for name, value in sent.items() if name not in PLACE_KEYS}
    try:
        saved, wrong = _checked_rules(vol.Schema(_rule_fields())(sent))
    except vol.Invalid:
        return USUAL
    if wrong is not None:
        return USUAL
    return WorkshopRules(
        namespaces=NamespaceRules(
            github_owner=saved.get(CONF_GITHUB_OWNER),
            forge_hosts=tuple(saved.get(CONF_FORGE_HOSTS, ())),
            forge_owner=saved.get(CONF_FORGE_OWNER),
        ),
        context_budget_tokens=saved[CONF_CONTEXT_TOKENS],
        hard_context_limit_tokens=saved[CONF_HARD_LIMIT_TOKENS],
        summary_candidates=saved[CONF_SUMMARY_CANDIDATES],
    )


def workshop_places(settings: Mapping[str, Any]) -> WorkshopPlaces | None:
    """Return the links, hubs and renames in force; None where nobody can tell what they are."""
    sent = settings.get(CONF_WORKSHOP, {})
    return places_of(sent) if isinstance(sent, Mapping) else None


def workshop_limits() -> dict[str, str]:
    """Return what the texts of the section say of its bounds."""
    return {
        "least_context": str(CONTEXT_TOKENS_MINIMUM),
        "most_context": str(CONTEXT_TOKENS_MAXIMUM),
        "most_places": str(PLACES_MAXIMUM),
    }
