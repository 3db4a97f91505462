# What a web server on the loopback interface offers, once an example's script has started it.

mkdir -p /srv/downloads /tmp/tool-1.2/bin
echo 'all is fine' >/srv/downloads/health
echo '#!/bin/sh' >/tmp/tool-1.2/bin/tool
tar -C /tmp -czf /srv/downloads/tool-1.2.tar.gz tool-1.2
cd /srv/downloads
python3 -m zipfile -c site.zip /srv/salt/web/files/*.html
sha256sum tool-1.2.tar.gz >tool-1.2.tar.gz.sha256
rm -r /tmp/tool-1.2
