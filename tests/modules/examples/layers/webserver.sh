# An older version of a package than the repository has, and a second package.

apt-get -qq install -y webserver=1.0 webserver-docs </dev/null
