"""Two worlds for one caller: one with everything, one without what the caller must not see.

Whatever is asked, both have to answer the same: then nothing that is hidden is seen, counted,
ranked, named or betrayed by an error.
"""

from collections.abc import Awaitable, Callable, Iterable
import json
from typing import Final

from .answers import read
from .expectation import Who
from .probes import EVERY_PLACE, EVERY_RECORD, EVERYTHING_FOUND, EVERYTHING_LISTED, PROMPT, Probe
from .world import BY_NAME

type Ask = Callable[[Probe], Awaitable[object]]
type Answers = list[tuple[Probe, str]]

SHOWN: Final = 40
"""How many differences a failure shows."""
CONTEXT_CHARACTERS: Final = 200


async def answers(probes: Iterable[Probe], ask: Ask) -> Answers:
    """Ask everything in order and return what was answered."""
    return [(probe, read(probe.operation, await ask(probe))) for probe in probes]


def assert_alike(full: Answers, reduced: Answers) -> None:
    """Hold that the two worlds answer the same."""
    assert len(full) == len(reduced)
    found = [
        f"{probe.operation} {dict(probe.arguments)}\n  with:    {_at(with_all, without)}"
        f"\n  without: {_at(without, with_all)}"
        for (probe, with_all), (_, without) in zip(full, reduced, strict=True)
        if with_all != without
    ]
    assert not found, f"{len(found)} leaks:\n" + "\n".join(found[:SHOWN])


def assert_told(told: Answers, who: Who) -> None:
    """Hold that a caller is told of all that is there for it, before anything was changed."""
    first: dict[str, str] = {}
    for probe, answer in told:
        first.setdefault(str(probe), answer)
    # A client that does not reach the home has no tools of the home.
    if who.home and (listed := first.get(str(EVERYTHING_LISTED))):
        assert named(listed) == who.active()
        assert f'"total":{len(who.active())}' in listed.replace("\\", "").replace(" ", "")
    if who.home and (found := first.get(str(EVERYTHING_FOUND))):
        assert named(found) == who.active(archived=False)
    if records := first.get(str(EVERY_RECORD)):
        assert named(records) == who.live()
    if places := first.get(str(EVERY_PLACE)):
        assert {place["wing"] for place in json.loads(places)["wings"]} == who.wings_known()
    if prompt := first.get(str(PROMPT)):
        assert named(prompt) == who.critical()


def named(answer: str) -> set[str]:
    """Return the memories that an answer quotes."""
    return {name for name in BY_NAME if f"The {name} keeps" in answer}


def _at(one: str, other: str) -> str:
    """Return a text around where it begins to be another one."""
    pairs = zip(one, other, strict=False)
    start = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return one[max(0, start - CONTEXT_CHARACTERS) : start + CONTEXT_CHARACTERS]
