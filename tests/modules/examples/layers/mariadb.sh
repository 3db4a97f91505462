# An empty MariaDB server; it runs once `servers/mariadb.sh` has started it.

rm -rf /var/lib/mysql
mariadb-install-db --user=mysql --datadir=/var/lib/mysql --skip-test-db --auth-root-authentication-method=socket
echo 'CREATE TABLE IF NOT EXISTS visits (day DATE);' >/srv/shop.sql
