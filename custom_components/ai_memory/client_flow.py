"""The flow that lets a coding agent in, changes what it may do, and gives it a new token.

One config subentry is one client. A token is made here and shown in one step, with what to paste
into each client; only its digest is saved. Removing the subentry takes the access away at once.
"""

from contextlib import suppress
from ipaddress import ip_network
import re
from typing import Any, Final

from homeassistant.config_entries import ConfigSubentryFlow, SubentryFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.helpers.network import NoURLAvailableError, get_url
from homeassistant.helpers.selector import (
    BooleanSelector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
)

from .core import Access
from .core.namespaces import NAMESPACE_LIMIT_CHARACTERS
from .ha_compat import vol
from .mcp.client_tokens import (
    CONF_ACCESS,
    CONF_ADDRESS,
    CONF_HOME,
    CONF_NAME,
    CONF_TOKEN_DIGEST,
    CONF_WINGS,
    DEFAULT_ACCESS,
    names_of,
    new_token,
    settings_shown,
    token_digest,
)
from .mcp.connecting import as_markdown, instructions

ENDPOINT: Final = "/api/ai_memory/mcp"
HOME_URL: Final = "http://homeassistant.local:8123"
"""Where most homes answer, for one that does not know its own address."""
GUIDE_URL: Final = "https://github.com/ai-memory-ha/ai-memory/blob/main/docs/mcp.md"
WINGS_MAXIMUM: Final = 50

_NAME: Final = re.compile(r"[^\W_][\w .:-]{0,63}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_WING: Final = re.compile(r"[a-z0-9_][a-z0-9._/-]*\*?|\*")


class ClientFlow(ConfigSubentryFlow):
    """Add or change one client."""

    _data: dict[str, Any]
    _token = ""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask who it is and what it may do."""
        if user_input is None:
            return self._show("user", {})
        data, errors = self._checked(user_input)
        if errors:
            return self._show("user", user_input, errors)
        self._data = data
        if CONF_TOKEN_DIGEST in data or CONF_ADDRESS in data:
            return self._created()
        return await self.async_step_token()

    async def async_step_token(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Show the new token, this once, with how each client takes it."""
        if user_input is None:
            self._token = new_token()
            return self._show_token("token")
        self._data[CONF_TOKEN_DIGEST] = token_digest(self._token)
        return self._created()

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask whether to change the client or its token."""
        return self.async_show_menu(step_id="reconfigure", menu_options=["change", "rotate"])

    async def async_step_change(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Change what the client may do; it keeps its token unless another proof is given."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            return self._show("change", settings_shown(subentry.data))
        data, errors = self._checked(user_input, but=subentry.subentry_id)
        if not errors and not {CONF_TOKEN_DIGEST, CONF_ADDRESS} & data.keys():
            if CONF_TOKEN_DIGEST in subentry.data:
                data[CONF_TOKEN_DIGEST] = subentry.data[CONF_TOKEN_DIGEST]
            else:
                errors[CONF_ADDRESS] = "client_proof_missing"
        if errors:
            return self._show("change", user_input, errors)
        return self.async_update_and_abort(
            self._get_entry(), subentry, title=data[CONF_NAME], data=data
        )

    async def async_step_rotate(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Show another token; the one before ends when this one is confirmed."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            self._token = new_token()
            return self._show_token("rotate")
        kept = {name: value for name, value in subentry.data.items() if name != CONF_ADDRESS}
        return self.async_update_and_abort(
            self._get_entry(), subentry, data=kept | {CONF_TOKEN_DIGEST: token_digest(self._token)}
        )

    def _created(self) -> SubentryFlowResult:
        return self.async_create_entry(title=self._data[CONF_NAME], data=self._data)

    def _show(
        self, step_id: str, shown: dict[str, Any], errors: dict[str, str] | None = None
    ) -> SubentryFlowResult:
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(vol.Schema(_fields()), shown),
            errors=errors or {},
        )

    def _show_token(self, step_id: str) -> SubentryFlowResult:
        url = f"{_home_url(self.hass)}{ENDPOINT}"
        shown = {
            one.key: as_markdown(one)
            for one in instructions(url, self._token, again=step_id == "rotate")
        }
        return self.async_show_form(
            step_id=step_id,
            description_placeholders={"token": self._token, "guide": GUIDE_URL, **shown},
        )

    def _checked(
        self, user_input: dict[str, Any], but: str | None = None
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the client as it is saved, and the errors by field."""
        errors: dict[str, str] = {}
        name = " ".join(user_input[CONF_NAME].split())
        if not _NAME.fullmatch(name):
            errors[CONF_NAME] = "client_name_invalid"
        elif name.casefold() in names_of(self._get_entry().subentries, but):
            errors[CONF_NAME] = "client_name_taken"
        wings = list(dict.fromkeys(one.strip().lower() for one in user_input.get(CONF_WINGS, ())))
        if len(wings) > WINGS_MAXIMUM or not all(map(_is_wing, wings)):
            errors[CONF_WINGS] = "client_wings_invalid"
        if not user_input[CONF_ACCESS]:
            errors[CONF_ACCESS] = "client_access_missing"
        data = {
            CONF_NAME: name,
            CONF_ACCESS: [one.value for one in Access if one.value in user_input[CONF_ACCESS]],
            CONF_HOME: user_input[CONF_HOME],
            CONF_WINGS: wings,
        }
        proof, wrong = _proof(user_input)
        return data | proof, errors | wrong


def _home_url(hass: HomeAssistant) -> str:
    """Return where the home answers: as whoever asks has reached it, else as it is set up."""
    home = HOME_URL
    for as_reached in (True, False):
        with suppress(NoURLAvailableError):
            home = get_url(hass, require_current_request=as_reached, prefer_external=False)
            break
    return home


def _fields() -> dict[vol.Marker, object]:
    access = SelectSelector(
        SelectSelectorConfig(
            options=[one.value for one in Access],
            multiple=True,
            mode=SelectSelectorMode.LIST,
            translation_key="client_access",
        )
    )
    wings = SelectSelector(SelectSelectorConfig(options=[], multiple=True, custom_value=True))
    return {
        vol.Required(CONF_NAME): TextSelector(),
        vol.Required(CONF_ACCESS, default=[one.value for one in DEFAULT_ACCESS]): access,
        vol.Required(CONF_HOME, default=False): BooleanSelector(),
        vol.Optional(CONF_WINGS): wings,
        vol.Optional(CONF_TOKEN_DIGEST): TextSelector(),
        vol.Optional(CONF_ADDRESS): TextSelector(),
    }


def _is_wing(name: str) -> bool:
    return len(name) <= NAMESPACE_LIMIT_CHARACTERS and _WING.fullmatch(name) is not None


def _proof(user_input: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the client will show instead of a token made here, and the errors by field."""
    # The tools that make a digest print the name of what they read behind it.
    digest = next(iter(user_input.get(CONF_TOKEN_DIGEST, "").lower().split()), "")
    address = user_input.get(CONF_ADDRESS, "").strip()
    if digest and address:
        return {}, {CONF_ADDRESS: "client_proof_twice"}
    if digest:
        wrong = {} if _DIGEST.fullmatch(digest) else {CONF_TOKEN_DIGEST: "client_digest_invalid"}
        return {CONF_TOKEN_DIGEST: digest}, wrong
    if not address:
        return {}, {}
    try:
        network = ip_network(address)
    except ValueError:
        return {}, {CONF_ADDRESS: "client_address_invalid"}
    if set(user_input[CONF_ACCESS]) - {Access.READ.value}:
        return {}, {CONF_ACCESS: "client_address_reads_only"}
    return {CONF_ADDRESS: str(network)}, {}
