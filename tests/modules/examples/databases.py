"""What the examples with a database server find in it: the server stays, so each begins with a tidy one."""

from __future__ import annotations

MARIADB = """\
mariadb <<END
DROP DATABASE IF EXISTS shop; DROP DATABASE IF EXISTS old_shop;
DROP USER IF EXISTS shop@localhost, old_shop@localhost, reporting@localhost;
UNINSTALL SONAME IF EXISTS 'auth_ed25519';
END
rm -f /tmp/accounts.txt /tmp/shop.log"""
POSTGRES = """\
runuser -u postgres -- psql -q >/dev/null 2>&1 <<END || true
DROP DATABASE IF EXISTS shop; DROP DATABASE IF EXISTS old; DROP DATABASE IF EXISTS app;
DROP OWNED BY reporter; DROP SCHEMA IF EXISTS billing; DROP SCHEMA IF EXISTS leftover;
DROP TABLESPACE IF EXISTS slow; DROP TABLESPACE IF EXISTS fast;
ALTER TABLESPACE pg_default RESET (random_page_cost);
DROP ROLE IF EXISTS clerks, formers, former, readers, reporter, shop, app;
DROP EXTENSION IF EXISTS hstore; CREATE EXTENSION IF NOT EXISTS plpgsql;
GRANT TEMPORARY ON DATABASE postgres TO public;
END
rm -rf /var/lib/postgresql/second"""
SECOND = "pg_dropcluster --stop 15 second 2>/dev/null || true"

SHOP = (
    "mariadb -e 'CREATE DATABASE shop; CREATE USER shop@localhost; "
    "GRANT INSERT, UPDATE ON shop.* TO shop@localhost'"
)
OLD_SHOP = "mariadb -e 'CREATE DATABASE old_shop; CREATE USER old_shop@localhost'"
REPORTING = (
    "mariadb -e 'CREATE USER reporting@localhost; GRANT SELECT, INSERT ON shop.* TO reporting@localhost'"
)


def psql(sql: str) -> str:
    return f'runuser -u postgres -- psql -qc "{sql}"'


def tablespace(name: str) -> str:
    place = f"/var/lib/postgresql/{name}"
    return f"install -d -o postgres {place}\n" + psql(f"CREATE TABLESPACE {name} LOCATION '{place}'")


SCRIPTS: dict[str, str] = {
    "functions.mysql": MARIADB,
    "functions.mysql.alter_db": SHOP,
    "functions.mysql.db_remove": SHOP,
    "functions.mysql.file_query": f"{SHOP}; echo 'CREATE TABLE items (id INT);' >/srv/shop.sql",
    "functions.mysql.grant_add": SHOP,
    "functions.mysql.grant_exists": SHOP,
    "functions.mysql.grant_revoke": SHOP,
    "functions.mysql.plugin_remove": "mariadb -e \"INSTALL SONAME 'auth_ed25519'\"",
    "functions.mysql.user_chpass": SHOP,
    "functions.mysql.user_remove": SHOP,
    "functions.mysql.verify_login": SHOP,
    "functions.postgres": POSTGRES,
    "functions.postgres.cluster_create": SECOND,
    "functions.postgres.cluster_remove": f"{SECOND}; pg_createcluster 15 second",
    "functions.postgres.db_alter": psql("CREATE DATABASE shop"),
    "functions.postgres.db_remove": psql("CREATE DATABASE shop"),
    "functions.postgres.drop_extension": psql("CREATE EXTENSION hstore"),
    "functions.postgres.group_remove": psql("CREATE ROLE clerks"),
    "functions.postgres.group_update": psql("CREATE ROLE clerks"),
    "functions.postgres.language_create": psql("DROP EXTENSION plpgsql"),
    "functions.postgres.owner_to": psql("CREATE DATABASE shop"),
    "functions.postgres.schema_remove": psql("CREATE SCHEMA billing"),
    "functions.postgres.tablespace_create": "install -d -o postgres /var/lib/postgresql/fast",
    "functions.postgres.tablespace_remove": tablespace("fast"),
    "functions.postgres.user_remove": psql("CREATE ROLE shop"),
    "functions.postgres.user_update": psql("CREATE ROLE shop LOGIN CREATEDB"),
    "states.mysql_database": MARIADB,
    "states.mysql_database.absent": OLD_SHOP,
    "states.mysql_grants": MARIADB,
    "states.mysql_grants.absent": REPORTING,
    "states.mysql_query": MARIADB,
    "states.mysql_user": MARIADB,
    "states.mysql_user.absent": OLD_SHOP,
    "states.postgres_cluster": "",
    "states.postgres_cluster.absent": "pg_createcluster 15 unused",
    "states.postgres_cluster.present": SECOND,
    "states.postgres_database": POSTGRES,
    "states.postgres_database.absent": psql("CREATE DATABASE old"),
    "states.postgres_extension": POSTGRES,
    "states.postgres_extension.absent": psql("CREATE EXTENSION hstore"),
    "states.postgres_group": POSTGRES,
    "states.postgres_group.absent": psql("CREATE ROLE formers"),
    "states.postgres_initdb": POSTGRES,
    "states.postgres_language": POSTGRES,
    "states.postgres_language.present": psql("DROP EXTENSION plpgsql"),
    "states.postgres_privileges": POSTGRES,
    "states.postgres_schema": POSTGRES,
    "states.postgres_schema.absent": psql("CREATE SCHEMA leftover"),
    "states.postgres_tablespace": POSTGRES,
    "states.postgres_tablespace.absent": tablespace("slow"),
    "states.postgres_user": POSTGRES,
    "states.postgres_user.absent": psql("CREATE ROLE former"),
}
