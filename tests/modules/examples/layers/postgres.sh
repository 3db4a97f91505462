# An empty PostgreSQL server in Debian's way; it runs once `servers/postgres.sh` has started it.

for version in $(ls /etc/postgresql 2>/dev/null); do
    for cluster in $(ls /etc/postgresql/$version); do pg_dropcluster $version $cluster; done
done
pg_createcluster --locale C.UTF-8 --encoding UTF8 15 main
printf 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nshared_buffers = 16MB\nmax_connections = 20\n' \
    >/etc/postgresql/15/main/conf.d/examples.conf
