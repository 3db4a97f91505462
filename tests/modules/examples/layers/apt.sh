# A repository of two small packages and a newer version of one, and an apt that knows no other.

build() {  # name version
    mkdir -p /tmp/build/DEBIAN /tmp/build/usr/share/$1 /tmp/build/etc
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: for the examples\n' \
        $1 $2 >/tmp/build/DEBIAN/control
    echo $2 >/tmp/build/usr/share/$1/version
    echo 'port = 80' >/tmp/build/etc/$1.conf
    echo /etc/$1.conf >/tmp/build/DEBIAN/conffiles
    dpkg-deb --root-owner-group -b /tmp/build /srv/packages/$1_$2_all.deb
    rm -r /tmp/build
}
list() {
    for file in *.deb; do
        dpkg-deb -f $file
        printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' $file $(stat -c %s $file) $(sha256sum $file | cut -d' ' -f1)
    done
}

mkdir -p /srv/packages
cat >/srv/salt/keys/acme.asc <<END
-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEavmwURYJKwYBBAHaRw8BAQdAJxlTYwjXPOa+WFgovigxx6cegHqnK69flpWC
FO8Mb1y0JUFjbWUgcGFja2FnZXMgPHBhY2thZ2VzQGFjbWUuZXhhbXBsZT6IkAQT
FggAOBYhBC2c+KB/R3pICU8wURob7if4Mm50BQJq+bBRAhsDBQsJCAcCBhUKCQgL
AgQWAgMBAh4BAheAAAoJEBob7if4Mm50iEAA/AzB9+4ZooW2aJSgCLXWhM5jRb8j
puiZRKCzgnv7pJgvAP4tR1+0q6AxmG09/ft1J6hKbMlxQrl/2o917z4nU6E5Dg==
=+JyF
-----END PGP PUBLIC KEY BLOCK-----
END
build webserver 1.0
build webserver 2.0
build webserver-docs 1.0
cd /srv/packages
list >Packages

# dpkg begins with nothing: what this machine has, and would have to do after an installation, is not our business.
for list in status statoverride diversions; do : >/var/lib/dpkg/$list; done
rm -rf /var/lib/dpkg/updates/* /var/lib/dpkg/triggers/* /var/lib/apt/extended_states
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/*
echo 'deb [trusted=yes] copy:/srv/packages ./' >/etc/apt/sources.list
printf 'APT::Sandbox::User "root";\nAcquire::Languages "none";\n' >/etc/apt/apt.conf.d/99examples
apt-get -qq update
