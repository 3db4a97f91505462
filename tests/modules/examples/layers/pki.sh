# A certification authority of our own, a key, and a certificate for it.

mkdir -p /etc/pki
cd /etc/pki
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 3650 -subj '/CN=Example CA' \
    -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign
openssl req -newkey rsa:2048 -nodes -keyout www.key -out old.csr -subj /CN=www.example.org
openssl x509 -req -in old.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -out www.pem
: > index.txt
openssl ca -gencrl -keyfile ca.key -cert ca.crt -out ca.crl -crldays 100 -md sha256 -config /dev/stdin <<EOF
[ ca ]
default_ca = here
[ here ]
database = /etc/pki/index.txt
EOF
