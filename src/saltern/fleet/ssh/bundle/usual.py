"""``USUAL``: the modules that almost every run on a host imports, which are sent as compiled code.

Others are sent as sources, which are a third of the size; a host compiles those that it needs, once.
``tests/fleet/ssh/test_bundle_code.py`` names what is missing here.
"""

from __future__ import annotations

# package → its modules; a star stands for all of them
USUAL: dict[str, str] = {
    "": "jinja2 markupsafe msgspec yaml",
    "jinja2": "*",
    "msgspec": "_utils _version json msgpack structs",
    "saltern": (
        "cli compat compiler config durable engine facts fleet journal language modules plan render "
        "report runtime sources system"
    ),
    "saltern.cli": (
        "apply arguments commands exits from_options main options output streams values worker "
        "worker_follower worker_process worker_records worker_runs"
    ),
    "saltern.compat": "places",
    "saltern.compiler": "*",
    "saltern.config": "*",
    "saltern.durable": "apply head open_journal",
    "saltern.engine": (
        "addresses agent_pillar apply build_plan controller_files delays loaders nested_engine "
        "options renderer_factory request session session_pillar state_events targets"
    ),
    "saltern.facts": "grains lazy_dict process",
    "saltern.fleet": "agent files protocol ssh",
    "saltern.fleet.agent": "event_spool output returns spool spool_file task unsent",
    "saltern.fleet.files": "cache manifest materialise options pieces prefetch problems",
    "saltern.fleet.protocol": "codec message messages peer_messages questions site_messages verbs",
    "saltern.fleet.ssh": "remote",
    "saltern.fleet.ssh.remote": "caller folders questions record_feed serve trees work",
    "saltern.journal": "*",
    "saltern.language": "*",
    "saltern.modules": "api lib states",
    "saltern.modules.api": "*",
    "saltern.modules.lib": "addresses command_answers files reboot_codes stateful web",
    "saltern.modules.lib.files": (
        "accumulators content diffs facts names own_source owners patterns signatures sources walk "
        "web_cache write"
    ),
    "saltern.modules.states": "cmd file",
    "saltern.modules.states.file": "directory managed",
    "saltern.plan": "in_patterns make matcher plan preparers resolve",
    "saltern.render": (
        "document filters jinja pipe pipeline remote remote_port renderers stages tags values "
        "watchdog yaml yaml_cache yaml_limits"
    ),
    "saltern.render.filters": "serialize",
    "saltern.render.jinja": "*",
    "saltern.report": "blocks colours nested outputs plain salt text verdict",
    "saltern.runtime": (
        "answers barriers chunk_runner decide execute interrupted_states loop post_call progress "
        "run_shared scope slots substates"
    ),
    "saltern.sources": "agent_socket published_tree roots stub text_file tree walk",
    "saltern.system": (
        "atomic boot clock effects environ faults files host keeper keeper_client keeper_process "
        "lean_msgspec ledger leftovers live lock log long_sockets maker mark output output_limits "
        "own_files own_program own_user ownership paths private process ran reboot regular run_numbers scope "
        "signals temporary"
    ),
    "yaml": "*",
}


def is_usual(module: str) -> bool:
    package, _, name = module.rpartition(".")
    names = USUAL.get(package, "").split()
    return name in names or "*" in names
