"""The tables of the memory and the steps that bring an older file up to date.

``database`` runs ``MIGRATIONS`` in order, each in a transaction of its own; step *n* takes a file
from schema version *n* to *n + 1*. A landed step is never edited: a new one is appended. Whoever
changes ``fulltext.indexed_text`` appends a step that rebuilds both full-text tables, because their
rows can only be removed by the exact text that was indexed.
"""

from typing import Final

APPLICATION_ID: Final = 0x41494D45
"""Marks a SQLite file as ours (the letters AIME), so that a foreign database is never touched."""

_VERSION_1: Final = (
    """
    CREATE TABLE wings (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        default_scope TEXT NOT NULL CHECK (default_scope IN ('private', 'common')),
        created_ms INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE rooms (
        id INTEGER PRIMARY KEY,
        wing_id INTEGER NOT NULL REFERENCES wings (id) ON DELETE RESTRICT,
        name TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        UNIQUE (wing_id, name)
    ) STRICT
    """,
    """
    CREATE TABLE memories (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        room_id INTEGER NOT NULL REFERENCES rooms (id) ON DELETE RESTRICT,
        content TEXT NOT NULL,
        summary TEXT NOT NULL DEFAULT '',
        restatement BLOB NOT NULL,
        scope TEXT NOT NULL CHECK (scope IN ('private', 'common')),
        owner_agent TEXT,
        owner_user TEXT,
        layer INTEGER NOT NULL DEFAULT 2 CHECK (layer BETWEEN 1 AND 3),
        type TEXT NOT NULL DEFAULT 'fact',
        status TEXT NOT NULL DEFAULT 'active'
            CHECK (status IN ('active', 'candidate', 'superseded', 'deleted')),
        confidence REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
        revision INTEGER NOT NULL DEFAULT 1,
        language TEXT,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        source TEXT NOT NULL,
        CHECK (scope = 'common' OR owner_agent IS NOT NULL)
    ) STRICT
    """,
    "CREATE INDEX memories_by_place ON memories (room_id, restatement)",
    "CREATE INDEX memories_by_update ON memories (updated_ms)",
    "CREATE INDEX memories_by_layer ON memories (layer, updated_ms)",
    """
    CREATE INDEX memories_by_visibility ON memories (
        room_id, updated_ms, status, scope, owner_agent, owner_user
    )
    """,
    """
    CREATE TABLE usage (
        sequence INTEGER PRIMARY KEY REFERENCES memories (sequence) ON DELETE CASCADE,
        returned INTEGER NOT NULL DEFAULT 0,
        fetched INTEGER NOT NULL DEFAULT 0,
        last_used_ms INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE embeddings (
        sequence INTEGER PRIMARY KEY REFERENCES memories (sequence) ON DELETE CASCADE,
        fingerprint TEXT NOT NULL,
        digest BLOB NOT NULL,
        vector BLOB NOT NULL
    ) STRICT
    """,
    "CREATE INDEX embeddings_by_text ON embeddings (digest, fingerprint)",
    """
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        action TEXT NOT NULL,
        memory_id TEXT NOT NULL,
        revision_before INTEGER,
        revision_after INTEGER,
        source TEXT NOT NULL,
        agent TEXT,
        user TEXT
    ) STRICT
    """,
    """
    CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
    """,
    """
    CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
    """,
    """
    CREATE VIRTUAL TABLE memory_words USING fts5 (
        content, summary, place, content = '',
        tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc So'"
    )
    """,
    """
    CREATE VIRTUAL TABLE memory_trigrams USING fts5 (
        content, summary, place, content = '', tokenize = 'trigram'
    )
    """,
)

_VERSION_2: Final = (
    """
    CREATE TABLE calibrations (
        fingerprint TEXT PRIMARY KEY,
        floor REAL NOT NULL CHECK (floor BETWEEN 0 AND 1),
        sample INTEGER NOT NULL
    ) STRICT
    """,
)

_VERSION_3: Final = (
    "ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1))",
    "ALTER TABLE memories ADD COLUMN layered_ms INTEGER NOT NULL DEFAULT 0",
    "UPDATE memories SET layered_ms = updated_ms",
)

_VERSION_4: Final = (
    "ALTER TABLE calibrations ADD COLUMN counted INTEGER NOT NULL DEFAULT 0",
    # Some were measured on too few memories, and on those of other owners.
    "DELETE FROM calibrations",
)

_VERSION_5: Final = (
    # A name with a slash, and "global", is a namespace of the workshop; all others are the home's.
    """
    ALTER TABLE wings ADD COLUMN workshop INTEGER NOT NULL
        GENERATED ALWAYS AS (name = 'global' OR instr(name, '/') > 0) VIRTUAL
    """,
    "ALTER TABLE wings ADD COLUMN description TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE rooms ADD COLUMN description TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE memories ADD COLUMN expires_ms INTEGER",
    "ALTER TABLE memories ADD COLUMN deleted_ms INTEGER",
    # What a forgotten memory was before, so that it can come back as that.
    "ALTER TABLE memories ADD COLUMN forgotten_status TEXT",
    # No foreign key: what replaced a memory is younger, so rows could not be copied in order.
    "ALTER TABLE memories ADD COLUMN superseded_by INTEGER",
    "ALTER TABLE memories ADD COLUMN superseded_ms INTEGER",
    """
    CREATE TRIGGER nothing_is_superseded_by_what_is_gone AFTER DELETE ON memories
    BEGIN UPDATE memories SET superseded_by = NULL WHERE superseded_by = OLD.sequence; END
    """,
    # What others witnessed: the effective confidence over the one that the writer asserted.
    "ALTER TABLE memories ADD COLUMN evidence REAL NOT NULL DEFAULT 1.0",
    """
    CREATE INDEX memories_by_work ON memories (type, updated_ms)
        WHERE type IN ('open_work', 'done_work')
    """,
    "CREATE INDEX memories_by_expiry ON memories (expires_ms) WHERE expires_ms IS NOT NULL",
    "CREATE INDEX memories_by_deletion ON memories (deleted_ms) WHERE deleted_ms IS NOT NULL",
    """
    CREATE INDEX memories_by_replacement ON memories (superseded_by)
        WHERE superseded_by IS NOT NULL
    """,
    """
    CREATE TABLE earlier_texts (
        id INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL REFERENCES memories (sequence) ON DELETE CASCADE,
        revision INTEGER NOT NULL,
        content TEXT NOT NULL,
        summary TEXT NOT NULL,
        scope TEXT NOT NULL,
        owner_agent TEXT,
        owner_user TEXT,
        written_ms INTEGER NOT NULL,
        replaced_ms INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE INDEX earlier_texts_by_memory ON earlier_texts (sequence, revision)",
    """
    CREATE TABLE evidence (
        id INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL REFERENCES memories (sequence) ON DELETE CASCADE,
        at_ms INTEGER NOT NULL,
        stance TEXT NOT NULL CHECK (stance IN ('corroborates', 'contradicts')),
        quote TEXT NOT NULL,
        anchor TEXT,
        source TEXT NOT NULL,
        agent TEXT,
        user TEXT
    ) STRICT
    """,
    "CREATE INDEX evidence_by_memory ON evidence (sequence)",
    """
    CREATE TABLE anchors (
        sequence INTEGER NOT NULL REFERENCES memories (sequence) ON DELETE CASCADE,
        anchor TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'unchecked' CHECK (state IN ('unchecked', 'ok', 'missing')),
        checked_ms INTEGER,
        unavailable_since_ms INTEGER,
        PRIMARY KEY (sequence, anchor)
    ) STRICT
    """,
    "CREATE INDEX anchors_by_target ON anchors (anchor, sequence)",
    """
    CREATE TABLE receipts (
        op_id TEXT PRIMARY KEY,
        client TEXT NOT NULL,
        digest BLOB NOT NULL,
        result TEXT,
        at_ms INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE tunnels (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('tunnel', 'link', 'hub')),
        state TEXT NOT NULL CHECK (state IN ('open', 'proposed', 'dismissed')),
        from_wing INTEGER NOT NULL REFERENCES wings (id) ON DELETE CASCADE,
        from_room INTEGER REFERENCES rooms (id) ON DELETE CASCADE,
        to_wing INTEGER REFERENCES wings (id) ON DELETE CASCADE,
        to_room INTEGER REFERENCES rooms (id) ON DELETE CASCADE,
        reason TEXT NOT NULL DEFAULT '',
        source TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        CHECK ((to_wing IS NULL) = (kind = 'hub'))
    ) STRICT
    """,
    """
    CREATE UNIQUE INDEX tunnels_by_ends ON tunnels (
        from_wing, coalesce(from_room, 0), coalesce(to_wing, 0), coalesce(to_room, 0)
    )
    """,
    "ALTER TABLE usage ADD COLUMN last_returned_ms INTEGER",
    "ALTER TABLE usage ADD COLUMN last_fetched_ms INTEGER",
    # A place that was joined to another, which its memories still have to follow to.
    "ALTER TABLE wings ADD COLUMN moving_to INTEGER",
    "ALTER TABLE rooms ADD COLUMN moving_to INTEGER",
    # Full text knows places by room, so that renaming one rewrites no memory. What it holds of the
    # places of earlier memories is no longer asked for, but a row is only removed by what it holds.
    "ALTER TABLE memories ADD COLUMN indexed_place TEXT NOT NULL DEFAULT ''",
    """
    UPDATE memories SET indexed_place = (
        SELECT replace(w.name || ' ' || r.name, '_', ' ')
        FROM rooms r JOIN wings w ON w.id = r.wing_id WHERE r.id = room_id
    )
    """,
    """
    CREATE VIEW place_texts AS
        SELECT r.id AS room_id, r.wing_id, replace(w.name || ' ' || r.name, '_', ' ')
            || iif(instr(w.name, '-'), ' ' || replace(w.name, '-', ''), '') AS place
        FROM rooms r JOIN wings w ON w.id = r.wing_id
    """,
    """
    CREATE VIRTUAL TABLE place_words USING fts5 (
        place, tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc So'"
    )
    """,
    "INSERT INTO place_words (rowid, place) SELECT room_id, place FROM place_texts",
    """
    CREATE TRIGGER place_words_of_new_rooms AFTER INSERT ON rooms BEGIN
        INSERT INTO place_words (rowid, place)
            SELECT room_id, place FROM place_texts WHERE room_id = new.id;
    END
    """,
    """
    CREATE TRIGGER place_words_of_renamed_rooms AFTER UPDATE OF name, wing_id ON rooms BEGIN
        UPDATE place_words SET place = (SELECT place FROM place_texts WHERE room_id = new.id)
            WHERE rowid = new.id;
    END
    """,
    """
    CREATE TRIGGER place_words_of_renamed_wings AFTER UPDATE OF name ON wings BEGIN
        UPDATE place_words
            SET place = (SELECT t.place FROM place_texts t WHERE t.room_id = place_words.rowid)
            WHERE rowid IN (SELECT id FROM rooms WHERE wing_id = new.id);
    END
    """,
    """
    CREATE TRIGGER place_words_of_deleted_rooms AFTER DELETE ON rooms BEGIN
        DELETE FROM place_words WHERE rowid = old.id;
    END
    """,
    # What an audit row is about where it is no memory, and why it was done; never any text.
    "ALTER TABLE audit ADD COLUMN subject TEXT",
    "ALTER TABLE audit ADD COLUMN reason TEXT",
    # A summary was not part of what is embedded.
    """
    DELETE FROM embeddings
        WHERE sequence IN (SELECT sequence FROM memories WHERE summary <> '')
    """,
)

FULL_TEXT_TABLES: Final = ("memory_words", "memory_trigrams")
"""Those that hold what memories say."""

SECURELY_DELETING: Final = (*FULL_TEXT_TABLES, "place_words")
"""All tables of full text: what is removed must not stay in the file."""

MIGRATIONS: Final = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4, _VERSION_5)

SCHEMA_VERSION: Final = len(MIGRATIONS)
