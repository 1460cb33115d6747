"""Makes the palace agree with the options: moves owners, opens and closes links and hubs.

Run by the manager in the background after each start, and thereby after each change of the options.
It works through ``places`` like any caller, so that all of it is checked, committed and audited
alike, and writes nothing where everything is as it should be. What cannot be done is passed over,
and no log tells the name of a place.
"""

from collections.abc import Awaitable
from functools import partial
import logging
from typing import Final

from .errors import AiMemoryError, StorageError
from .models import WORKSHOP_REACH, Access, Caller
from .places import Places
from .tunnel_rows import FROM_OPTIONS, TunnelKind, TunnelState
from .tunnels import Tunnel
from .workshop_places import WorkshopPlaces

OPTIONS: Final = Caller(
    source=FROM_OPTIONS, access=frozenset({Access.READ, Access.ADMIN}), reach=WORKSHOP_REACH
)
"""On whose behalf a link of the options is opened; what it opened, and only that, it may close."""

type _Ends = tuple[str, str | None]

_LOGGER: Final = logging.getLogger(__name__)


async def settle(places: Places, wanted: WorkshopPlaces | None) -> None:
    """Finish what a restart broke off, then do as the options say, however often it takes.

    Where there are no options, what they opened before stays as it is.
    """
    await places.finish()
    if wanted is not None:
        await places.upkeep.after_start(partial(configure, places, wanted))


async def configure(places: Places, wanted: WorkshopPlaces) -> None:
    """Rename the owners, then close what the options name no longer and open what they name.

    Raises StorageError.
    """
    settled = wanted.settled()
    for rename in settled.renames:
        await _tried("rename", places.rename_owner(OPTIONS, rename.old, rename.new))
    named: dict[_Ends, None] = {(link.repository, link.project): None for link in settled.links}
    named |= {(hub, None): None for hub in settled.hubs}
    joined = [
        tunnel
        for tunnel in await places.tunnels(OPTIONS, None, None, None)
        if tunnel.kind is not TunnelKind.TUNNEL
    ]
    for tunnel in joined:
        if tunnel.source == FROM_OPTIONS and _ends(tunnel) not in named:
            await _tried("tunnel", places.disconnect(OPTIONS, tunnel.id))
    there = {_ends(tunnel) for tunnel in joined if tunnel.state is TunnelState.OPEN}
    for repository, project in named:
        if (repository, project) not in there:
            await _tried("link or hub", places.link(OPTIONS, repository, project))


def _ends(tunnel: Tunnel) -> _Ends:
    return tunnel.start.wing, tunnel.end.wing if tunnel.end else None


async def _tried(what: str, change: Awaitable[object]) -> None:
    """Make one change, or pass it over: one that is wrong must not keep the others away."""
    try:
        await change
    except StorageError:
        raise
    except AiMemoryError as err:
        # The error's own text would tell the place.
        _LOGGER.warning("A %s of the options is passed over: %s", what, err.key)
