# Wheels with nothing in them, a pip that looks for packages only there, and an environment.

wheel() {  # name version
    mkdir -p /tmp/wheel/$1-$2.dist-info /srv/wheels
    cd /tmp/wheel
    echo "version = '$2'" >$1.py
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' $1 $2 >$1-$2.dist-info/METADATA
    printf 'Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >$1-$2.dist-info/WHEEL
    printf '%s.py,,\n%s-%s.dist-info/METADATA,,\n%s-%s.dist-info/WHEEL,,\n%s-%s.dist-info/RECORD,,\n' \
        $1 $1 $2 $1 $2 $1 $2 >$1-$2.dist-info/RECORD
    python3 -m zipfile -c /srv/wheels/$1-$2-py3-none-any.whl $1.py $1-$2.dist-info
    cd /
    rm -r /tmp/wheel
}

wheel django 4.2
wheel django 5.0
wheel gunicorn 1.0
wheel gunicorn 2.0
printf '[global]\nno-index = true\nfind-links = /srv/wheels\ndisable-pip-version-check = true\n' >/etc/pip.conf
printf 'django==4.2\n' >/srv/salt/web/requirements.txt
python3 -m venv /srv/venv
/srv/venv/bin/pip install -q gunicorn==1.0
