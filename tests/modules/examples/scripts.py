"""Shell scripts for what an example needs before it starts, by its key or by the first words of it."""

from __future__ import annotations


def serve(folder: str) -> str:
    """A web server on port 8000 of the loopback interface, ready when the script ends."""
    return (
        f"cd {folder}; setsid python3 -m http.server --bind 127.0.0.1 8000 </dev/null >/dev/null 2>&1 &\n"
        "until (: </dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.02; done"
    )


NANO = "mkdir -p /opt/nano/bin; cp /bin/true /opt/nano/bin/nano"
OFFERED = f"{NANO}; update-alternatives --install /usr/bin/editor editor /opt/nano/bin/nano 5"
MOUNTED = "mkdir -p /srv/data; mount -t tmpfs tmpfs /srv/data"
TAG = "# Lines below here are managed by Salt, do not edit"
CRONTAB = (
    f"printf '{TAG}\\nMAILTO=ada\\n# SALT_CRON_IDENTIFIER:backup\\n5 4 * * * /usr/local/bin/backup\\n"
    "@daily /usr/local/bin/reindex\\n'"
)
QUEUED = "echo '### SALT: reindex' | at now + 1 hour"
NFT_INPUT = "nft add table ip filter; nft add chain ip filter input"
NFS = "echo 'server:/export/home /home nfs ro,soft 0 0' >>/etc/fstab"

SSHD = (
    "mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f /tmp/key\n"
    "/usr/sbin/sshd -f /dev/null -p 2222 -h /tmp/key"
)
CARD = (
    "ip link add eth0 type veth peer name eth9; printf 'iface eth0 inet manual\\n' >/etc/network/interfaces"
)
BACKED_UP = "saltern single file.append /etc/app.conf text=more; "

WEEKLY = "saltern call schedule.add weekly function=test.ping days=7"
REPORTS = "saltern call schedule.add reports function=test.ping hours=6 enabled=false"

# Where Samba keeps its accounts, there is nothing of this machine.
SAMBA = "rm -rf /var/lib/samba/private/*; printf '[global]\\nnetbios name = WEB1\\n' >/etc/samba/smb.conf"
KNOWN = f"{SAMBA}; for one in ada olduser; do printf 'a\\na\\n' | pdbedit -a -t -u $one >/dev/null; done"

SCRIPTS: dict[str, str] = {
    "functions.aliases": "echo 'olduser: ada' >/etc/aliases",
    "functions.alternatives": OFFERED,
    "functions.alternatives.auto": "update-alternatives --set editor /opt/nano/bin/nano",
    "functions.alternatives.check_installed": "update-alternatives --set editor /opt/nano/bin/nano",
    "functions.alternatives.show_current": "update-alternatives --set editor /opt/nano/bin/nano",
    "functions.at.atc": QUEUED,
    "functions.at.atq": QUEUED,
    "functions.at.atrm": QUEUED,
    "functions.cp.get_url": serve("/srv/downloads"),
    "functions.cron": f"{CRONTAB} | crontab -",
    "functions.debconf": "mkdir /srv/salt/mail;"
    " echo 'mail mail/mailname string web1.example.org' >/srv/salt/mail/answers",
    "functions.debconf.show": "debconf-set-selections /srv/salt/mail/answers",
    "functions.file.delete_backup": BACKED_UP,
    "functions.file.list_backups": BACKED_UP,
    "functions.gem": serve("/srv/downloads"),
    "functions.grains.delval": "echo 'datacentre: berlin' >>/etc/saltern/grains",
    "functions.http": serve("/srv/downloads"),
    "functions.ip.down": CARD + "; ifup eth0",
    "functions.ip.up": CARD,
    "functions.mount.fstab": NFS,
    "functions.mount.is_mounted": MOUNTED,
    "functions.mount.remount": MOUNTED,
    "functions.mount.rm_fstab": NFS,
    "functions.mount.umount": MOUNTED,
    "functions.network.connect": serve("/srv/downloads"),
    "functions.npm": serve("/srv/registry"),
    "functions.pdbedit": KNOWN,
    "functions.pkg.install": "apt-get -qq purge -y webserver </dev/null",
    "functions.pkg.list_holds": "apt-mark hold webserver",
    "functions.pkg.unhold": "apt-mark hold webserver",
    "functions.schedule.delete": WEEKLY,
    "functions.schedule.disable_job": WEEKLY,
    "functions.schedule.enable_job": f"{WEEKLY} enabled=false",
    "functions.schedule.list": WEEKLY,
    "functions.schedule.modify": WEEKLY,
    "functions.schedule.purge": WEEKLY,
    "functions.ssh.recv_known_host_entries": SSHD,
    "functions.status.pid": serve("/srv/downloads"),
    "functions.timezone": "ln -sf /usr/share/zoneinfo/Europe/Berlin /etc/localtime;"
    " echo Europe/Berlin >/etc/timezone",
    "states.alias.absent": "echo 'olduser: ada' >>/etc/aliases",
    "states.alternatives.auto": f"{OFFERED}; update-alternatives --set editor /opt/nano/bin/nano",
    "states.alternatives.install": NANO,
    "states.alternatives.remove": OFFERED,
    "states.alternatives.set": OFFERED,
    "states.archive.extracted": serve("/srv/downloads"),
    "states.at.absent": QUEUED,
    "states.cron.absent": f"{CRONTAB} | crontab -",
    "states.cron.env_absent": f"{CRONTAB} | crontab -",
    "states.debconf.set_file": "mkdir /srv/salt/mail;"
    " echo 'mail mail/mailname string web1.example.org' >/srv/salt/mail/answers",
    "states.file.cached": serve("/srv/downloads"),
    "states.file.not_cached": serve("/srv/downloads")
    + "\nsaltern single file.cached http://localhost:8000/tool-1.2.tar.gz skip_verify=true",
    "states.file.patch": "diff -u /srv/app/list.txt /srv/app/other.txt >/srv/salt/web/list.patch || true",
    "states.file.retention_schedule": "mkdir -p /var/backups/db\n"
    + "touch /var/backups/db/db_2026010{1,2,3,4,5,6,7}T020000.sql",
    "states.file.tidied": "touch -d '2 months ago' /var/log/app/app.log",
    "states.gem": serve("/srv/downloads"),
    "states.gem.sources_add": "gem sources -q --remove http://localhost:8000/gems/",
    "states.grains.absent": "echo 'datacentre: berlin' >>/etc/saltern/grains",
    "states.http": serve("/srv/downloads"),
    "states.iptables.chain_absent": "iptables -N OLDCHAIN",
    "states.iptables.delete": "iptables -A INPUT -p tcp --dport 23 -j ACCEPT",
    "states.iptables.flush": "iptables -t nat -A POSTROUTING -j MASQUERADE",
    "states.mount.fstab_absent": NFS,
    "states.mount.unmounted": f"{MOUNTED}; echo 'tmpfs /srv/data tmpfs defaults 0 0' >>/etc/fstab",
    "states.nftables.chain_absent": "nft add table inet filter; nft add chain inet filter oldchain",
    "states.nftables.delete": f"{NFT_INPUT}; nft add rule ip filter input tcp dport 23 accept",
    "states.nftables.flush": f"{NFT_INPUT}; nft add rule ip filter input tcp dport 23 accept",
    "states.nftables.table_absent": "nft add table inet oldtable",
    "states.npm": serve("/srv/registry"),
    "states.pdbedit": SAMBA,
    "states.pdbedit.absent": KNOWN,
    "states.pkg.unheld": "apt-mark hold webserver",
    "states.pkgrepo.managed": ">/etc/apt/sources.list",
    "states.schedule.absent": WEEKLY,
    "states.schedule.disabled": WEEKLY,
    "states.schedule.enabled": REPORTS,
    "states.system": "hostname old; echo old >/etc/hostname",
}
