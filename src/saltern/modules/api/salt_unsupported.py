"""Arguments that Salt's state functions take and that do nothing here.

``UNSUPPORTED``: ignoring them has an effect, which the text describes; they are reported before a run.
``NO_EFFECT``: ignoring them has no effect on the machines that saltern manages; the text says why, in the
manual. ``UNSAFE_TO_IGNORE``: ignoring them would make unrequested changes; the state fails.
"""

from __future__ import annotations

from collections.abc import Mapping

Rows = Mapping[str, Mapping[str, str]]

_WINDOWS = "for Windows"
_LOG = "it only affects Salt's log"
_ALWAYS_PLAIN = "output is always read as it comes"
_WIN: Mapping[str, str] = dict.fromkeys(
    ("win_owner", "win_perms", "win_deny_perms", "win_inheritance"), _WINDOWS
)
_WIN_RESET = {**_WIN, "win_perms_reset": _WINDOWS}
_COMMAND: Mapping[str, str] = {
    "ignore_retcode": _LOG,
    "log_callback": _LOG,
    "output_loglevel": _LOG,
    "use_vt": _ALWAYS_PLAIN,
}
_ENCODING: Mapping[str, str] = {"output_encoding": "output is read as UTF-8"}
_COMMAND_LINE: Mapping[str, str] = {**_COMMAND, "password": "for Windows and macOS"}
_GIT: Mapping[str, str] = {
    "output_encoding": "git's output is UTF-8",
    "password": "for Windows and macOS",
}
_ORCHESTRATION: Mapping[str, str] = dict.fromkeys(
    ("ssh", "roster"), "systems are addressed alike, whether over SSH or through an agent"
)
_ENV: Mapping[str, str] = {"env": "an old name of saltenv, which Salt ignores, too"}
_OLD_PIP: Mapping[str, str] = dict.fromkeys(
    (
        "allow_all_external",
        "allow_external",
        "allow_unverified",
        "build",
        "distribute",
        "download_cache",
        "mirrors",
        "never_download",
        "no_download",
        "no_install",
        "no_use_wheel",
        "pip_download_cache",
        "process_dependency_links",
    ),
    "for versions of pip and virtualenv before 2021",
)
_PACKAGES: Mapping[str, str] = {
    "aggregate": "the engine reads it",
    "bypass_file": "it only speeds up old versions of Salt",
    "bypass_file_contains": "it only speeds up old versions of Salt",
    "failhard": "the engine reads it",
    "force_yes": "for versions of apt that are no longer in use",
    "output_loglevel": _LOG,
    "report_reboot_exit_codes": _WINDOWS,
    "skip_suggestions": "there is no slow search for suggestions to skip",
    "split_arch": "names with an architecture are always accepted",
    "use_vt": _ALWAYS_PLAIN,
    "with_origin": "for FreeBSD",
    "saltenv": "the engine reads it",
}
_ZYPPER: Mapping[str, str] = {
    "novendorchange": "zypper's own setting applies",
    "no_recommends": "zypper's own setting applies; for apt give install_recommends",
}
_YUM: Mapping[str, str] = {
    "disableexcludes": "packages that the configuration excludes stay excluded",
    "setopt": "the options of dnf.conf and yum.conf apply",
}
_MANAGER: Mapping[str, str] = {
    **_ZYPPER,
    **_YUM,
    "env": "scripts of packages get the environment of saltern",
    "resolve_capabilities": "a package is found by its name, not by what it provides",
    "diff_attr": "changes show the versions of packages, but no other attributes",
    "ignore_repo_failure": "a repository that cannot be read is a failure",
}
_DEBCONF: Mapping[str, str] = {"debconf": "give the answers beforehand, with debconf.set_file"}
_REINSTALL: Mapping[str, str] = {"reinstall": "a package in the right version stays unchanged"}
_FROM: Mapping[str, str] = {"repo": "give fromrepo"}
_ARCHITECTURES: Mapping[str, str] = {"normalize": "names with an architecture are always accepted"}
_NOT_INSTALLED: Mapping[str, str] = dict.fromkeys(
    ("force_conf_new", "only_upgrade", "update_holds"), "nothing is installed"
)
_SCHEDULE: Mapping[str, str] = {"offline": "the file is always changed"}
_SERVICE: Mapping[str, str] = {
    "provider": "the service manager is chosen by the option providers",
    "restart": "a watched change restarts a service anyway",
    "runlevels": "a service is enabled where its unit or script says",
    "skip_verify": "it is an argument for packages",
    "timeout": _WINDOWS,
}
_FINGERPRINTS: Mapping[str, str] = {"fingerprint_hash_type": "every kind of fingerprint is recognized"}
_KEY_FILE: Mapping[str, str] = {
    **_WIN_RESET,
    **dict.fromkeys(("file_encoding", "encoding_errors"), "the content is not text in an encoding"),
}
_OLD_X509 = "unused in Salt, too"

NO_EFFECT: Rows = {
    "cmd.call": {
        **_COMMAND,
        **dict.fromkeys(("cwd", "env", "hide_output", "shell", "user", "stateful"), "unused in Salt, too"),
    },
    "cmd.run": _COMMAND_LINE,
    "cmd.script": {**_COMMAND_LINE, "retcode": "unused in Salt, too"},
    "cmd.wait": _COMMAND,
    "cmd.wait_call": {**_COMMAND, "hide_output": "unused in Salt, too", "stateful": "unused in Salt, too"},
    "cmd.wait_script": _COMMAND,
    "docker_image.present": {"kwargs": "never read by Salt"},
    "environ.setenv": {"update_minion": "there is no separate minion process"},
    "file.decode": {"checksum": "the bytes themselves are compared"},
    "file.directory": _WIN_RESET,
    "file.managed": {**_WIN_RESET, **_ENV},
    "file.recurse": {
        **_WIN,
        **_ENV,
        "keep_source": "files of the tree are not cached",
        "makedirs": "parent directories are always created",
        "sym_mode": "links have no mode of their own on Linux",
    },
    "file.replace": {"bufsize": "a file is read as a whole"},
    "file.serialize": _ENV,
    "file.symlink": {
        **_WIN,
        "atomic": "a link is always changed in one step",
        "disallow_copy_and_unlink": "a backup is never moved to another file system",
        "follow_symlinks": "the link itself is examined, never its target",
    },
    "git.cloned": _GIT,
    "git.config_set": _GIT,
    "git.config_unset": _GIT,
    "git.detached": _GIT,
    "git.latest": _GIT,
    "git.present": _GIT,
    "mount.fstab_present": {"fs_mount": "for AIX"},
    "mount.mounted": {
        "bind_mount_copy_active_opts": "mount itself keeps them",
        "extra_mount_translate_options": "options are compared by what they mean",
    },
    "mysql_query.run": {"client_flags": "the client needs none"},
    "mysql_query.run_file": {"client_flags": "the client needs none"},
    "mysql_user.present": {"password_column": "the column is detected"},
    "npm.bootstrap": {"silent": _LOG},
    "pip.installed": {
        **_OLD_PIP,
        "disable_version_check": "pip never checks for a newer pip here",
        "pip_bin": "an old name of bin_env",
        "use_vt": _ALWAYS_PLAIN,
    },
    "pip.removed": {
        "use_vt": _ALWAYS_PLAIN,
        "log": _LOG,
        "timeout": "nothing is fetched",
        "proxy": "nothing is fetched",
    },
    "pip.uptodate": {"use_vt": _ALWAYS_PLAIN},
    "pkg.downloaded": {
        **_PACKAGES,
        **_NOT_INSTALLED,
        **_ARCHITECTURES,
        "downloadonly": "the state never does anything else",
    },
    "pkg.group_installed": {**_PACKAGES, **_ARCHITECTURES, "update_holds": "held packages are not touched"},
    "pkg.installed": {**_PACKAGES, "watch_flags": "for Gentoo"},
    "pkg.latest": _PACKAGES,
    "pkg.purged": _PACKAGES,
    "pkg.removed": _PACKAGES,
    "pkg.uptodate": {**_PACKAGES, **_ARCHITECTURES},
    "postgres_extension.absent": {"if_exists": "this is always checked first"},
    "postgres_extension.present": {"if_not_exists": "this is always checked first"},
    "schedule.absent": {**_SCHEDULE, "persist": "jobs are only in the file"},
    "schedule.disabled": {**_SCHEDULE, "persist": "jobs are only in the file"},
    "schedule.enabled": {**_SCHEDULE, "persist": "jobs are only in the file"},
    "salt.function": _ORCHESTRATION,
    "salt.state": {**_ORCHESTRATION, "orchestration_jid": "a job knows its parent"},
    "salt.wait_for_event": {"node": "all events are those of the controller"},
    "schedule.present": _SCHEDULE,
    "service.dead": _SERVICE,
    "service.disabled": _SERVICE,
    "service.enabled": _SERVICE,
    "service.running": _SERVICE,
    "ssh_auth.absent": {
        **_FINGERPRINTS,
        **dict.fromkeys(("comment", "enc", "options"), "a key is identified by its own data"),
    },
    "ssh_auth.manage": {**_FINGERPRINTS, "source": "unused in Salt, too"},
    "ssh_auth.present": _FINGERPRINTS,
    "ssh_known_hosts.present": _FINGERPRINTS,
    "virtualenv.managed": {
        **_OLD_PIP,
        "extra_search_dir": "for versions of virtualenv before 2020",
        "pip": "pip is always installed",
        "pip_download": "for versions of pip before 2016",
        "use_vt": _ALWAYS_PLAIN,
        "use_wheel": "wheels are always used",
    },
    "x509.certificate_managed": _KEY_FILE,
    "x509.crl_managed": {**_KEY_FILE, "text": _OLD_X509},
    "x509.csr_managed": _KEY_FILE,
    "x509.pem_managed": _KEY_FILE,
    "x509.private_key_managed": {**_KEY_FILE, **dict.fromkeys(("cipher", "verbose", "text"), _OLD_X509)},
}

_LABELS: Mapping[str, str] = {
    "attrs": "the attributes of chattr stay unchanged; use cmd.run with chattr",
    "selinux": "the label follows the policy of the directory; use selinux.fcontext_policy_present",
}

UNSUPPORTED: Rows = {
    "archive.extracted": {
        "list_options": "the archive is listed without them; use the argument options instead",
    },
    "cmd.run": _ENCODING,
    "cmd.script": {**_ENCODING, "bg": "the state waits for the script"},
    "cron.file": {"backup": "no copy of the replaced crontab is kept"},
    "docker_container.running": {"send_signal": "a container is stopped and started"},
    "docker_image.present": {
        "base": "no image is built from states",
        "pillar": "no image is built from states",
        "pillarenv": "no image is built from states",
    },
    "file.managed": {
        **_LABELS,
        "file_mode": "the mode stays as it is; give mode (Salt ignores it, too)",
    },
    "network.managed": {
        **dict.fromkeys(("link", "parent"), "give phys_dev (Red Hat) or vlan-raw-device (Debian)"),
        **dict.fromkeys(
            ("gvrp", "loose_binding", "slave_type"),
            "it only exists in the NetworkManager files that Salt writes",
        ),
        "bridge_ports": "give ports",
        "id": "give vlan_id (Red Hat), or name the interface like eth0.10",
        "interfaces": "give slaves (of a bond) or ports (of a bridge)",
        "nameservers": "give dns",
        "routes": "use network.routes",
    },
    "pip.installed": {
        "download": "packages are installed, not only downloaded",
        "install_options": "for versions of pip before 23.1; give global_options",
        "repo": "name the repository in the requirement: git+https://…",
    },
    "pkg.downloaded": {
        **_MANAGER,
        **_DEBCONF,
        **_FROM,
        "install_recommends": "recommended packages are not fetched",
        "reinstall": "an existing file is not fetched again",
        "sources": "name packages of a repository",
    },
    "pkg.group_installed": {**_MANAGER, **_REINSTALL, "ignore_epoch": "any version of a package is accepted"},
    "pkg.installed": {
        **_MANAGER,
        **_DEBCONF,
        **_FROM,
        "pkg_verify": "files of installed packages are not verified, and damaged ones are not restored",
    },
    "pkg.latest": {
        **_MANAGER,
        **_DEBCONF,
        **_FROM,
        **_REINSTALL,
        "ignore_epoch": "versions are compared with their epochs",
        "sources": "files are installed by pkg.installed",
    },
    "pkg.purged": _MANAGER,
    "pkg.removed": _MANAGER,
    "pkg.uptodate": {
        **_MANAGER,
        "allow_downgrades": "nothing is downgraded",
        "minimal": "packages are upgraded to the newest version, not to the oldest that fixes an error",
        "obsoletes": "the package manager's own setting applies",
    },
    "pkgrepo.managed": {
        "comments": "no comment is written to the file",
        "strict_config": "a repository file with a repeated option is accepted",
    },
    "system.reboot": {
        "force_close": "the init system decides how programs are stopped",
        "message": "users get the machine's own message",
    },
    "virtualenv.managed": {
        "symlinks": "the program that creates the environment decides between links and copies",
        "upgrade": "an existing environment stays unchanged; set clear to create it again",
    },
    "x509.certificate_managed": _LABELS,
    "x509.crl_managed": _LABELS,
    "x509.csr_managed": _LABELS,
    "x509.pem_managed": _LABELS,
    "x509.private_key_managed": _LABELS,
}

_OTHER_ROOT: Mapping[str, str] = {"root": "this machine would be changed, not the one below that directory"}
_INSTALLS: Mapping[str, str] = {
    **_OTHER_ROOT,
    "downloadonly": "packages would be installed, not only fetched; use pkg.downloaded",
}

UNSAFE_TO_IGNORE: Rows = {
    "cmd.run": {"group": "the command would have the groups of its user"},
    "cmd.script": {"group": "the script would have the groups of its user"},
    "pkg.downloaded": _OTHER_ROOT,
    "pkg.group_installed": _INSTALLS,
    "pkg.installed": _INSTALLS,
    "pkg.latest": _INSTALLS,
    "pkg.purged": _OTHER_ROOT,
    "pkg.removed": _OTHER_ROOT,
    "pkg.uptodate": {
        **_INSTALLS,
        "download_only": _INSTALLS["downloadonly"],
        "dryrun": "packages would be upgraded; use test mode",
    },
    "pkgrepo.absent": {**_OTHER_ROOT, "basedir": "the usual directory would be searched; give file"},
    "pkgrepo.managed": {
        **_OTHER_ROOT,
        "basedir": "the file would be in the usual directory; give file",
        "ppa_auth": "the archive would be accessed without a password; write the address with it in the name",
    },
    "service.disabled": _OTHER_ROOT,
    "service.enabled": _OTHER_ROOT,
    "service.running": _OTHER_ROOT,
}
