"""``QUESTIONS``: the read-only execution functions, by module. They run in parallel with other jobs.

A function that is not listed counts as changing something, and so does every function of a user's module. A
``*`` at the end of a word matches any rest. Functions that call others, or render a given text, are not
listed: ``test.try``, ``slsutil.renderer``.
"""

from __future__ import annotations

_BY_MODULE = {
    "aliases": "get_target has_target list_aliases",
    "alternatives": "check_exists check_installed display show_current show_link",
    "ansible": "targets version",
    "archive": "is_encrypted list",
    "at": "atq",
    "augeas": "get ls match tree",
    "cmd": "has_exec shells which which_bin",
    "config": "*",
    "cp": "envs get_file_str hash_file is_cached list_master list_master_dirs list_master_symlinks"
    " list_states stat_file",
    "cron": "get_entry list_tab ls raw_cron",
    "data": "get has_key items keys load values",
    "debconf": "get_selections show",
    "defaults": "*",
    "disk": "blkid dump fstype get_fstype_from_path inodeusage percent usage",
    "docker": "connected depends diff exists history images info inspect* layers list_containers list_tags"
    " logs networks pid port ps resolve_image_id resolve_tag search state top version volumes",
    "environ": "get has_value item items",
    "file": "access basename check_hash contains contains_glob contains_regex directory_exists dirname"
    " file_exists find get_diff get_gid get_group get_hash get_mode get_sum get_uid get_user gid_to_group"
    " grep group_to_gid is_blkdev is_chrdev is_fifo is_hardlink is_link join list_backups lstat normpath"
    " pardir path_exists_glob read readdir readlink search seek_read stats statvfs uid_to_user user_to_uid",
    "firewalld": "default_zone get_* list_* version",
    "gem": "list sources_list",
    "git": "config_get config_get_regexp current_branch describe diff is_worktree list_branches list_tags"
    " list_worktrees ls_remote merge_base remote_get remote_refs remotes rev_parse revision status version",
    "grains": "equals fetch filter_by get has_value item items ls",
    "group": "getent info members",
    "hashutil": "base64_b64decode base64_b64encode base64_decodestring base64_encodefile base64_encodestring"
    " digest digest_file github_signature hmac_compute hmac_signature md5_digest sha256_digest sha512_digest",
    "hosts": "get_alias get_ip has_pair list_hosts",
    "ini": "get_ini get_option get_section",
    "ip": "get_interface get_network_settings get_routes",
    "iptables": "build_rule check check_chain get_policy get_rules get_saved_policy get_saved_rules version",
    "kmod": "available check_available is_loaded lsmod mod_list",
    "locale": "avail get_locale list_avail",
    "logrotate": "get show_conf",
    "lowpkg": "*",
    "lvm": "fullversion lvdisplay pvdisplay version vgdisplay",
    "match": "*",
    "mine": "get valid",
    "mount": "active fstab is_mounted swaps",
    "mysql": "db_exists db_get db_list db_tables get_master_status get_slave_status grant_exists"
    " plugin_status plugins_list processlist quote_identifier showglobal showvariables slave_lag status"
    " tokenize_grant user_exists user_grants user_info user_list verify_login version",
    "network": "active_tcp arp calc_net connect convert_cidr default_route dig fqdns get_bufsize get_fqdn"
    " get_hostname get_route hw_addr hwaddr ifacestartswith in_subnet interface interface_ip interfaces"
    " ip_addrs ip_addrs6 ip_in_subnet ip_neighs ip_neighs6 ip_networks ip_networks6 ipaddrs ipaddrs6 iphexval"
    " is_loopback is_private netstat ping reverse_ip routes subnets subnets6 traceroute",
    "nftables": "build_rule check check_chain check_table get_* list_tables version",
    "npm": "list",
    "pdbedit": "generate_nt_hash get list",
    "pillar": "*",
    "pip": "freeze is_installed list list_all_versions list_upgrades version",
    "pkg": "available_version file_dict file_list get_repo get_repo_keys get_selections group_diff group_info"
    " group_list info_installed latest_version list_holds list_pkgs list_repo_pkgs list_repos list_upgrades"
    " normalize_name owner upgrade_available version version_cmp",
    "postgres": "available_extensions cluster_exists cluster_list datadir_exists db_exists db_list"
    " get_available_extension get_installed_extension has_privileges installed_extensions"
    " is_available_extension is_installed_extension language_exists language_list privileges_list role_get"
    " schema_exists schema_get schema_list tablespace_exists tablespace_list user_exists user_list version",
    "random": "get_str hash rand_int sample shadow_hash shuffle str_encode",
    "saltutil": "find_cached_job find_job is_running list_extmods running",
    "schedule": "build_schedule_item is_enabled list",
    "selinux": "fcontext_get_policy fcontext_policy_is_applied filetype_id_to_string getconfig getenforce"
    " getsebool getsemod list_sebool list_semod port_get_policy selinux_fs_path",
    "service": "available disabled enabled execs get_* masked missing offline show status",
    "shadow": "gen_password info list_users",
    "slsutil": "banner boolstr deepcopy deserialize dir_exists file_exists find_up findup merge merge_all"
    " path_exists serialize update",
    "ssh": "auth_keys check_key check_known_host get_known_host_entries host_keys recv_known_host_entries"
    " user_keys",
    "state": "check_request id_exists list_disabled running show_* sls_exists test",
    "status": "*",
    "sys": "argspec doc list_* state_argspec state_doc",
    "sysctl": "default_config get show",
    "system": "get_* has_settable_hwclock",
    "test": "arg arg_clean arg_repr arg_type assertion collatz conf_test cross_test echo exception false fib"
    " get_opts kwarg module_report not_loaded opts_pkg outputter ping provider raise_exception rand_sleep"
    " rand_str random_hash retcode sleep stack true version*",
    "timezone": "get_* list zone_compare",
    "user": "getent info list_groups list_users primary_group",
    "virtualenv": "get_*",
    "x509": "encode_certificate encode_crl encode_csr encode_private_key expired expires get_* read_*"
    " verify_crl verify_private_key verify_signature will_expire",
}
QUESTIONS: dict[str, tuple[str, ...]] = {module: tuple(words.split()) for module, words in _BY_MODULE.items()}


def is_question(function: str) -> bool:
    """True for an execution function that changes nothing."""
    module, _, name = function.partition(".")
    return any(
        name.startswith(word[:-1]) if word.endswith("*") else name == word
        for word in QUESTIONS.get(module, ())
    )
