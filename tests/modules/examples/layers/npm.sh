# A registry of one small package, as files for a web server, and a site that wants that package.

mkdir -p /srv/registry /srv/site /tmp/package
printf '{"name": "left-trim", "version": "1.0.0"}' >/tmp/package/package.json
tar -C /tmp -czf /srv/registry/left-trim-1.0.0.tgz package
sum=$(openssl dgst -sha512 -binary /srv/registry/left-trim-1.0.0.tgz | base64 -w0)
cat >/srv/registry/left-trim <<END
{"name": "left-trim", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
 "name": "left-trim", "version": "1.0.0",
 "dist": {"tarball": "http://localhost:8000/left-trim-1.0.0.tgz", "integrity": "sha512-$sum"}}}}
END
printf '{"name": "site", "version": "1.0.0", "dependencies": {"left-trim": "1.0.0"}}' >/srv/site/package.json
printf 'registry=http://localhost:8000/\naudit=false\nfund=false\nupdate-notifier=false\n' >/root/.npmrc
rm -r /tmp/package
