# The site with the package it wants, and a cache that has been used.

cd /srv/registry
python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &
until (: </dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.02; done
cd /srv/site
npm install --silent
