"""``mysql``: databases, accounts, grants and queries of a MariaDB or MySQL server.

Every function also takes ``connection_user``, ``connection_pass``, ``connection_host``,
``connection_port``, ``connection_db``, ``connection_unix_socket``, ``connection_charset``,
``connection_default_file`` and ``connection_default_group``. Defaults come from the options
``mysql.user``, ``mysql.pass`` … of the configuration or the pillar; without those root logs in at the
local socket. The server is reached with its client program, ``mariadb`` or ``mysql``.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "alter_db": "schemas",
    "db_check": "schemas",
    "db_create": "schemas",
    "db_exists": "schemas",
    "db_get": "schemas",
    "db_list": "schemas",
    "db_optimize": "schemas",
    "db_remove": "schemas",
    "db_repair": "schemas",
    "db_tables": "schemas",
    "file_query": "queries",
    "get_master_status": "replication",
    "get_slave_status": "replication",
    "grant_add": "grants",
    "grant_exists": "grants",
    "grant_revoke": "grants",
    "plugin_add": "plugins",
    "plugin_remove": "plugins",
    "plugin_status": "plugins",
    "plugins_list": "plugins",
    "processlist": "server",
    "query": "queries",
    "quote_identifier": "queries",
    "showglobal": "server",
    "showvariables": "server",
    "slave_lag": "replication",
    "status": "server",
    "tokenize_grant": "grants",
    "user_chpass": "users",
    "user_create": "users",
    "user_exists": "users",
    "user_grants": "grants",
    "user_info": "users",
    "user_list": "users",
    "user_remove": "users",
    "verify_login": "users",
    "version": "server",
}
