# The machine of all examples: a small web server called web1, with a tree and a pillar.

cat >/etc/hosts <<END
127.0.0.1 localhost
127.0.1.1 web1.example.org web1
10.0.0.7 db.example.org db
10.0.0.8 old.example.org
END
echo web1 >/etc/hostname

# What root of this machine likes, and who else lives here, is not our business.
rm -rf /root/.config /root/.cache /root/.gem /root/.gitconfig /root/.npmrc /root/.pip /root/.ssh

rm -rf /var/spool/cron/crontabs/* /var/spool/cron/atjobs/*
if [ -e /var/spool/cron/atjobs/.SEQ ]; then : >/var/spool/cron/atjobs/.SEQ; fi

for file in passwd group shadow gshadow; do
    sed -i -E '/^[^:]+:[^:]*:(1[0-9]{3}|[2-9][0-9]{3}|[1-5][0-9]{4}):/d' /etc/$file
done
groupadd -g 2000 staffers
useradd -m -u 2001 -s /bin/bash -c 'Ada Lovelace' ada
useradd -m -u 2002 -s /bin/bash deploy
useradd -m -u 2003 -s /bin/sh olduser
useradd -r -u 902 -m -d /srv/git git
groupadd -g 2010 oldgroup
usermod -a -G staffers ada

mkdir -p /srv/salt/web/files /srv/salt/keys /srv/pillar /etc/saltern
cat >/srv/salt/top.sls <<END
base:
  'web*':
    - web
END
cat >/srv/salt/web/init.sls <<END
/etc/motd:
  file.managed:
    - source: salt://web/motd
END
echo 'Welcome to web1' >/srv/salt/web/motd
printf 'server_name {{ grains["id"] }};\nlisten {{ port }};\n' >/srv/salt/web/site.conf.jinja
printf 'index\n' >/srv/salt/web/files/index.html
printf 'about us\n' >/srv/salt/web/files/about.html
printf 'port: 80\nroot: /var/www\n' >/srv/salt/web/defaults.yaml
printf '#!/bin/sh\necho "hello ${1:-world}" | tee greeting\n' >/srv/salt/web/hello.sh
printf '#!/bin/sh\nexit 3\n' >/srv/salt/web/check.sh
printf '5 4 * * * /usr/local/bin/backup\n' >/srv/salt/web/crontab
ln -s motd /srv/salt/web/issue
cat >/srv/pillar/top.sls <<END
base:
  '*':
    - web
END
cat >/srv/pillar/web.sls <<END
role: web
web:
  port: 8080
  names: [example.org, www.example.org]
END
printf 'nodegroups:\n  frontend: web*\nproviders: {service: sysv}\n' >/etc/saltern/saltern.yaml
printf 'roles:\n  - web\n' >/etc/saltern/grains

mkdir -p /srv/app/releases /var/log/app /var/www /etc/nginx
printf 'port = 80\n# debug = yes\nname = app\n' >/etc/app.conf
printf '[main]\nport = 80\nhost = localhost\n\n[old]\nflag = 1\n' >/etc/app.ini
printf 'one\ntwo\nthree\n' >/srv/app/list.txt
printf 'one\n2\nthree\n' >/srv/app/other.txt
printf 'started\nerror: no disk\nstopped\n' >/var/log/app/app.log
printf 'user www-data;\n' >/etc/nginx/nginx.conf
touch -d '2026-01-01 12:00:00 UTC' /etc/app.conf /srv/app/list.txt

cat >/usr/local/bin/backup <<END
#!/bin/sh
exit 0
END
chmod 755 /usr/local/bin/backup
cp /usr/local/bin/backup /usr/local/bin/reindex

# Keys of nobody, for the examples with ssh.
mkdir -m 700 /home/ada/.ssh
echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDh2TYBQmchyyb1vNCXZGYmgwIj8XU8J92Nuuk5zp4+s old' >/home/ada/.ssh/authorized_keys
echo 'old.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDh2TYBQmchyyb1vNCXZGYmgwIj8XU8J92Nuuk5zp4+s' >/home/ada/.ssh/known_hosts
chown -R ada:ada /home/ada/.ssh
