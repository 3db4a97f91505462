"""PostgreSQL, through the server's own programs: ``psql``, ``initdb`` and Debian's cluster commands."""
