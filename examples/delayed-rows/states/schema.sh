#!/bin/sh
# The table of customers. A row that is inserted without a UUID is given one.
set -eu
sqlite3 "$1" <<'SQL'
CREATE TABLE customer (
    name TEXT PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE DEFAULT (lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) ||
        '-9' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
    ))
);
SQL
