"""From ``async_setup_entry`` to the first answered search, in Home Assistant's own core.

``speed`` runs this module as a program of its own, because it needs Home Assistant and the other
measurements do not. In a folder with a filled file it starts Home Assistant's core, adds the config
entry through the real config flow and asks through the real service. The figures go to standard
output as JSON.
"""

import argparse
import asyncio
from dataclasses import asdict
import json
from pathlib import Path
from time import perf_counter
from typing import Final

from homeassistant import loader
from homeassistant.auth import auth_manager_from_config
from homeassistant.bootstrap import async_load_base_functionality
from homeassistant.config_entries import SOURCE_USER, ConfigEntries
from homeassistant.const import __version__ as home_assistant_version
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.ai_memory.const import CONF_EMBEDDING_ENGINE, CONF_MAX_ENTRIES, DOMAIN
from custom_components.ai_memory.runtime import loaded_entry

from .core import DEFAULT_ENGINE
from .figures import SetupFigures
from .measuring import all_vectors

_SETTINGS: Final = {CONF_MAX_ENTRIES: 1_000_000, CONF_EMBEDDING_ENGINE: DEFAULT_ENGINE}


async def measure_setup(config: Path, memories: int, question: str) -> SetupFigures:
    """Set the integration up on the file in a configuration folder."""
    hass = HomeAssistant(str(config))
    try:
        await start_core(hass)
        flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
        start = perf_counter()
        await hass.config_entries.flow.async_configure(flow["flow_id"], _SETTINGS)
        set_up = perf_counter()
        found = await hass.services.async_call(
            DOMAIN, "search_memory", {"query": question}, blocking=True, return_response=True
        )
        answered = perf_counter()
        if not found or not found["count"]:
            raise RuntimeError("The first search found nothing")
        entry = loaded_entry(hass)
        if entry is None:
            raise RuntimeError("The integration is not set up")
        await all_vectors(entry.runtime_data.manager, memories)
        loaded = perf_counter()
    finally:
        await hass.async_stop(force=True)
    return SetupFigures(
        memories=memories,
        engine=DEFAULT_ENGINE,
        home_assistant=home_assistant_version,
        setup_ms=(set_up - start) * 1000,
        first_search_ms=(answered - start) * 1000,
        vectors_loaded_ms=(loaded - start) * 1000,
    )


async def start_core(hass: HomeAssistant) -> None:
    """Start what is there before any config entry, the integration's services among it."""
    # What the integration requires is there already: it was imported to get here.
    hass.config.skip_pip = True
    loader.async_setup(hass)
    hass.config_entries = ConfigEntries(hass, {})
    await async_load_base_functionality(hass)
    hass.auth = await auth_manager_from_config(hass, [], [])
    # The web client that engines are given needs the network; in older versions that needs http.
    for domain in ("network", DOMAIN):
        if not await async_setup_component(hass, domain, {}):
            raise RuntimeError(f"{domain} could not be loaded")


def main() -> None:
    """Measure what the arguments name and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("memories", type=int)
    parser.add_argument("question")
    arguments = parser.parse_args()
    figures = asyncio.run(measure_setup(arguments.config, arguments.memories, arguments.question))
    print(json.dumps(asdict(figures)))


if __name__ == "__main__":
    main()
