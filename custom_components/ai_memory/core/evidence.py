"""What others witness of a memory, and how far it can be relied on.

The manager runs ``corroborate`` in a transaction; who checks anchors calls ``renew_evidence`` in
theirs. Confidence is what the writer asserted: each corroboration closes a third of what is missing
to certainty, each contradiction and each anchor that is missing halves what is left.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import aiosqlite

from . import memories
from .errors import InvalidInputError
from .models import LEAST_CONFIDENCE, Action, Memory, Stance, Status, Tally, Witnessed
from .transaction import MemoryChange, Transaction, Written

QUOTE_LIMIT_CHARACTERS: Final = 500
WITNESSES_LIMIT: Final = 1_000
OBSERVATIONS_KEPT: Final = 100
"""What anchors of one memory left in the trail; the oldest go first, as their states tell now."""
LEFT_BY_A_PROOF: Final = 2 / 3
"""Of the distance to certainty."""
LEFT_BY_A_REFUTATION: Final = 1 / 2

_WITNESS: Final = """
    INSERT INTO evidence (sequence, at_ms, stance, quote, source, agent, user)
    VALUES (:sequence, :at_ms, :stance, :quote, :source, :agent, :user)
"""
# What an anchor leaves in the trail is told by its state, not counted again.
_TALLIES: Final = """
    SELECT sequence, sum(stance = 'corroborates'), sum(stance = 'contradicts')
    FROM evidence WHERE anchor IS NULL AND sequence IN (SELECT value FROM json_each(:listed))
    GROUP BY sequence
"""
_MISSING_ANCHORS: Final = """
    SELECT count(*) FROM anchors WHERE sequence = ? AND state = 'missing'
"""
_RENEW: Final = """
    UPDATE memories SET evidence = :evidence, revision = revision + 1 WHERE sequence = :sequence
"""
_PRUNE_OBSERVATIONS: Final = """
    DELETE FROM evidence WHERE sequence = :sequence AND anchor IS NOT NULL AND id NOT IN (
        SELECT id FROM evidence WHERE sequence = :sequence AND anchor IS NOT NULL
        ORDER BY at_ms DESC, id DESC LIMIT :kept
    )
"""
_FORGET_QUOTES: Final = "UPDATE evidence SET quote = '' WHERE sequence = ? AND anchor IS NULL"
_ACTIONS: Final = {
    Stance.CORROBORATES: Action.CORROBORATED,
    Stance.CONTRADICTS: Action.CONTRADICTED,
}


async def corroborate(
    write: Transaction, memory_id: str, quote: str, stance: Stance
) -> tuple[Witnessed, list[Written]]:
    """Attach a cleaned quote of the caller to a memory. Raises NotFoundError, InvalidInputError."""
    memory = await write.memory(memory_id)
    if memory.status is Status.SUPERSEDED:
        raise InvalidInputError("already_superseded", id=memory.id)
    tally = (await tallies(write.connection, [memory.sequence])).get(memory.sequence, Tally())
    if tally.proofs + tally.refutations >= WITNESSES_LIMIT:
        raise InvalidInputError("too_many", field="quote", maximum=WITNESSES_LIMIT)
    await write.connection.execute(
        _WITNESS,
        {
            "sequence": memory.sequence,
            "at_ms": write.now_ms,
            "stance": stance,
            "quote": quote,
            "source": write.caller.source,
            "agent": write.caller.agent,
            "user": write.caller.user,
        },
    )
    before, after = await renew_evidence(write.connection, memory.sequence)
    tally = (await tallies(write.connection, [memory.sequence]))[memory.sequence]
    changes: list[MemoryChange] = [(before, after)]
    return Witnessed(after, tally), [await write.record(_ACTIONS[stance], changes)]


async def renew_evidence(connection: aiosqlite.Connection, sequence: int) -> tuple[Memory, Memory]:
    """Reckon the evidence of a memory again, at a new revision; returns it before and after."""
    before = await memories.by_sequence(connection, sequence)
    share = await factor(connection, sequence, before.confidence)
    await connection.execute(_RENEW, {"sequence": sequence, "evidence": share})
    return before, await memories.by_sequence(connection, sequence)


async def forget_quotes(connection: aiosqlite.Connection, sequence: int) -> None:
    """Forget what witnesses said of a memory while it was private; that they did still counts."""
    await connection.execute(_FORGET_QUOTES, (sequence,))


async def prune_observations(connection: aiosqlite.Connection, sequences: Iterable[int]) -> None:
    """Drop the oldest of what anchors left in the trail of some memories, if it is too much."""
    kept = [{"sequence": sequence, "kept": OBSERVATIONS_KEPT} for sequence in sequences]
    await connection.executemany(_PRUNE_OBSERVATIONS, kept)


async def factor(connection: aiosqlite.Connection, sequence: int, confidence: float) -> float:
    """Return the effective confidence of a memory over the one that its writer asserted."""
    tally = (await tallies(connection, [sequence])).get(sequence, Tally())
    rows = await connection.execute_fetchall(_MISSING_ANCHORS, (sequence,))
    refuted = Tally(tally.proofs, tally.refutations + int(next(iter(rows))[0]))
    return effective(confidence, refuted) / max(confidence, LEAST_CONFIDENCE)


def effective(confidence: float, tally: Tally) -> float:
    """Return what is left of an asserted confidence after the witnesses."""
    if not tally.proofs and not tally.refutations:
        return max(confidence, LEAST_CONFIDENCE)
    proven = 1 - (1 - confidence) * LEFT_BY_A_PROOF**tally.proofs
    return proven * LEFT_BY_A_REFUTATION**tally.refutations


async def tallies(connection: aiosqlite.Connection, sequences: Sequence[int]) -> dict[int, Tally]:
    """Return how many witnesses speak for and against each memory that has any."""
    rows = await connection.execute_fetchall(_TALLIES, memories.listed(sequences))
    return {sequence: Tally(proofs, refutations) for sequence, proofs, refutations in rows}
