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
build webserver 1.0
build webserver 2.0
build webserver-docs 1.0
cd /srv/packages
list >Packages
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/*
echo 'deb [trusted=yes] copy:/srv/packages ./' >/etc/apt/sources.list
printf 'APT::Sandbox::User "root";\nAcquire::Languages "none";\n' >/etc/apt/apt.conf.d/99examples
apt-get -qq update
