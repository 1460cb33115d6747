"""Two worlds for one caller: one with everything, one without what the caller must not see.

Whatever is asked, both have to answer the same: then nothing that is hidden is seen, counted,
ranked, named or betrayed by an error. ``Twin`` is one of the two and what is asked of it.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from os.path import commonprefix
from typing import Any, Final

from .answers import Reader
from .probes import Probe
from .world import BY_NAME, JOINED, Ids

type Ask = Callable[[Probe], Awaitable[object]]
type Answers = list[tuple[Probe, str]]

SHOWN: Final = 40
"""How many differences a failure shows."""
CONTEXT_CHARACTERS: Final = 200


class Twin:
    """One of the two worlds, with the ids that both go by."""

    def __init__(self, ids: Ids, full: Ids) -> None:
        """Call a hidden memory by the id that it has where it is."""
        self._references = {
            **{f"@{name}": one for name, one in (full.memories | ids.memories).items()},
            **{f"#{name}": one for name, one in (full.tunnels | ids.tunnels).items()},
        }
        named = {one: name for known in (full, ids) for name, one in known.memories.items()}
        named |= {
            one: f"tunnel {name}" for known in (full, ids) for name, one in known.tunnels.items()
        }
        self._reader = Reader(named)

    def filled(self, probe: Probe) -> Probe:
        """Return a probe with the ids of this world."""
        return Probe(probe.operation, self._fill(probe.arguments))

    async def answers(self, probes: Iterable[Probe], ask: Ask) -> Answers:
        """Ask everything in order and return what was answered."""
        return [
            (probe, self._reader.read(probe.operation, await ask(self.filled(probe))))
            for probe in probes
        ]

    def _fill(self, value: Any) -> Any:
        match value:
            case dict():
                return {name: self._fill(one) for name, one in value.items()}
            case str():
                if value in self._references:
                    return self._references[value]
                for name, one in self._references.items():
                    # Animals are no parts of one another where a quote ends them.
                    value = value.replace(f'"{name}"', f'"{one}"')
                return value
        return value


def differences(full: Answers, reduced: Answers) -> list[str]:
    """Return where the two worlds answer differently."""
    assert len(full) == len(reduced)
    return [
        f"{probe.operation} {dict(probe.arguments)}\n  with:    {_at(with_all, without)}"
        f"\n  without: {_at(without, with_all)}"
        for (probe, with_all), (_, without) in zip(full, reduced, strict=True)
        if with_all != without
    ]


def _at(one: str, other: str) -> str:
    """Return a text from a little before where it is another one."""
    start = len(commonprefix([one, other]))
    return one[max(0, start - CONTEXT_CHARACTERS) : start + CONTEXT_CHARACTERS]


def assert_alike(full: Answers, reduced: Answers) -> None:
    """Hold that the two worlds answer the same."""
    found = differences(full, reduced)
    assert not found, f"{len(found)} leaks:\n" + "\n".join(found[:SHOWN])


def told_of(answers: Sequence[str]) -> set[str]:
    """Return the animals that answers speak of."""
    words = {word for answer in answers for word in answer.replace('"', " ").split()}
    return {name for name in (*BY_NAME, *(one.name for one in JOINED)) if name in words}
