"""MariaDB and MySQL, through the client program that comes with the server.

Why not a library: every server comes with its client, so nothing has to be installed for
saltern's Python; and the client knows every way to log in (sockets, TLS, the plugins of its server) and
reads SQL files as people write them, ``DELIMITER`` included. In place of a library:

- passwords of a connection are in an option file that only its owner may read, statements on stdin;
  neither is in an argument that ``ps`` shows;
- ``--binary-mode`` disables the client's own commands, such as the one that starts a shell;
- values are quoted here, for a session whose ``sql_mode`` is pinned, so that a quote is a quote;
- results are read from ``--xml``, the only output in which ``NULL`` is not the text "NULL".
"""
