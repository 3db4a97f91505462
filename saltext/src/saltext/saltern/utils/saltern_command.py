"""Run a command of saltern with the pillar and the grains of a minion, and a view of its master's files.

Utilities have none of Salt's functions of their own; ``minion`` is given those of the module that calls.
"""

import base64
import json
import os
import re
import shutil
import tempfile
import time

import salt.payload
import salt.pillar

try:
    from salt.utils import secret
except ImportError:  # before Salt 3008
    secret = None

OPTIONS = (
    "allow_undefined",
    "default_top",
    "env_order",
    "failhard",
    "jinja_env",
    "jinja_sls_env",
    "lock_saltenv",
    "module_dirs",
    "nodegroups",
    "pillar_merge_lists",
    "pillar_source_merging_strategy",
    "renderer",
    "renderer_blacklist",
    "renderer_whitelist",
    "saltenv",
    "state_aggregate",
    "state_top",
    "state_top_saltenv",
    "top_file_merging_strategy",
    "split",
)
"""Options of the minion that mean the same to saltern."""
MODULES = ("modules", "states", "utils", "renderers")
"""Kinds of modules that saltern can use as Salt has synchronised them."""
ENDED = (0, 1, 2, 3, 4, 5)
"""Exit codes after which there is nothing to resume."""
RETRIED = ("run", "retry")
"""Commands of chains that can be retried with the files they had."""
KEPT_FOR = 30 * 86400  # seconds
FOLDER = "@folder"
"""Stands for the folder of a run in the words of its command."""


def minion(functions, options, grains, utility):
    """The minion that a command runs on; ``utility`` finds the other utilities of the extension."""
    return Minion(functions, options, grains, utility)


class Minion:
    """What a command needs of the minion. The folder of a run lasts as long as the run may be resumed: its
    journal names the files in it."""

    def __init__(self, functions, options, grains, utility):
        self._salt, self._options, self._utility = functions, options, utility
        self._grains = dict(grains.value() if hasattr(grains, "value") else grains)

    def run(self, command, given, files, on_line):
        """Run a command; its exit code, output and errors. ``files`` are written into its folder.

        ``given["serves"]``: the caller continues what was begun before, which may ask us.
        """
        program, verb, *words = command
        part = words[words.index("--") + 1] if verb == "chain" and "--" in words else verb
        kept = self._kept_folders() if given.get("serves") or verb == "resume" else []
        folder = self._new_folder()
        for name, text in files.items():
            _write(folder, name, text)
        words = [word.replace(FOLDER, folder) for word in words]
        words = [verb, f"--config={self._write_configuration(folder)}", *words]
        if given.get("pillar"):
            words.insert(1, f"--pillar={_write(folder, 'pillar.yaml', _json(given['pillar']))}")
        process = self._utility("saltern_process.start")(
            [program, *words], folder, kept, given.get("timeout")
        )
        for asked, question, reply in process.questions(on_line):
            reply(self._answer(asked, question))
        code, *texts = process.result()
        if code in ENDED and (code == 0 or part not in RETRIED):
            _remove(folder, *(kept if len(kept) == 1 and verb == "resume" else ()))
        return code, *(_with_master_names(text, (folder, *kept)) for text in texts)

    # -- folders --------------------------------------------------------------------------------------------

    def _parent(self):
        return os.path.join(self._options["cachedir"], "saltern")

    def _new_folder(self):
        os.makedirs(self._parent(), 0o700, exist_ok=True)
        return tempfile.mkdtemp(prefix=time.strftime("%Y%m%d%H%M%S-"), dir=self._parent())

    def _kept_folders(self):
        """The folders of runs that broke and of those that reboot; very old ones are removed."""
        parent = self._parent()
        found = [one.path for one in os.scandir(parent) if one.is_dir()] if os.path.isdir(parent) else []
        found = [path for path in found if not self._utility("saltern_process.is_served")(path)]
        old = [path for path in found if os.stat(path).st_mtime < time.time() - KEPT_FOR]
        _remove(*old)
        return sorted(set(found) - set(old))

    # -- configuration --------------------------------------------------------------------------------------

    def _write_configuration(self, folder):
        """The configuration of this run: what the minion has, and where files and pillar come from."""
        listing = {env: self._listing(env) for env in self._salt["cp.envs"]()} or {"base": ([], [], {})}
        options = self._options
        found = {name: options[name] for name in OPTIONS if options.get(name) not in (None, "", [], {})}
        found |= (options.get("saltern") or {}).get("options") or {}
        found |= {
            "id": options["id"],
            "file_roots": self._utility("saltern_tree.make")(folder, listing),
            "file_tree": folder,
            "agent_socket": os.path.join(folder, "socket"),
            "extension_modules": self._link_synced_modules(folder),
            "grains_file": _write(folder, "grains.yaml", _json(self._grains)),
        }
        return _write(folder, "saltern.yaml", _json(found))

    def _listing(self, environment):
        """What an environment has, without modules: those come as Salt has synchronised them."""
        functions = ("cp.list_master", "cp.list_master_dirs", "cp.list_master_symlinks")
        files, directories, links = (self._salt[name](saltenv=environment) or () for name in functions)
        own = tuple(f"_{kind}/" for kind in (*MODULES, "grains", "pillar", "tops", "runners", "returners"))
        files = [path for path in files if not path.startswith(own)]
        return files, [path for path in directories if not f"{path}/".startswith(own)], dict(links)

    def _link_synced_modules(self, folder):
        """The directory of synchronised modules, without grains: those of the minion are given."""
        found = os.path.join(folder, "modules")
        os.mkdir(found, 0o700)
        for kind in MODULES:
            source = os.path.join(self._options["extension_modules"], kind)
            if os.path.isdir(source):
                os.symlink(source, os.path.join(found, kind))
        return found

    # -- what saltern asks while it runs --------------------------------------------------------------------

    def _answer(self, folder, question):
        known = {"file": self._give_file, "pillar": self._give_pillar}
        try:
            return known[question["ask"]](folder, question)
        except Exception as problem:  # whatever the file client raises is the answer
            return {"problem": str(problem) or type(problem).__name__, "fix": "look at the log of the minion"}

    def _give_file(self, folder, question):
        environment, path = self._utility("saltern_tree.environment_of")(folder, question["path"])
        cached = self._salt["cp.cache_file"](f"salt://{path}", saltenv=environment)
        if not cached:
            listed = self._utility("saltern_tree.is_listed")(folder, question["path"])
            return (
                {"problem": "the master does not have it any more", "fix": "run it again"} if listed else {}
            )
        self._utility("saltern_tree.place")(folder, question["path"], cached)
        return {}

    def _give_pillar(self, _folder, question):
        overrides = salt.payload.loads(base64.b64decode(question["overrides"]))
        found = _plain(
            salt.pillar.get_pillar(
                self._options,
                self._grains,
                self._options["id"],
                pillar_override=overrides or None,
                pillarenv=question.get("environment") or self._options.get("pillarenv"),
            ).compile_pillar()
        )
        problems = found.get("_errors")
        if problems:
            text = "; ".join(map(str, problems))
            return {"problem": text, "fix": "correct it on the master; no state was run"}
        return {"pillar": base64.b64encode(salt.payload.dumps(found)).decode()}


def _plain(pillar):
    """The pillar without the masks that Salt 3008 puts around its values."""
    expose = getattr(secret, "expose", None)
    return expose(pillar) if expose else pillar


def _with_master_names(text, folders):
    """A text in which the files of the master have the names that people know them by."""
    for folder in folders:
        text = re.sub("/?" + re.escape(os.path.join(folder, "roots")[1:]) + r"/[^/\"]+/", "salt://", text)
    return text


def _remove(*folders):
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _json(data):
    return json.dumps(data, default=str)


def _write(folder, name, text):
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path
