/etc/init.d/postgresql start
