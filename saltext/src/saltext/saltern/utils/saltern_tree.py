"""A view of the master's file roots for saltern: all names are listed, contents are fetched on demand.

Below ``folder``: ``roots`` has a directory for each environment, in which each file is a link into
``objects``; the link resolves once ``place`` has put the content there. ``tree.json`` describes
both.
"""

import json
import os
import shutil
from urllib.parse import quote


def make(folder, listing):
    """Make the view. ``listing``: environment → its files, its directories and its links (path → target)."""
    objects = os.path.join(folder, "objects")
    roots, links = {}, {}
    for environment, (files, directories, targets) in listing.items():
        name = quote(environment, safe="@+").replace(".", "%2E")
        root = os.path.join(folder, "roots", name)
        _make_directories(root, files, directories)
        for path in files:
            os.symlink(os.path.join(objects, name, path), os.path.join(root, path))
        roots[environment] = [name]
        links[name] = dict(targets)
    description = {
        "digest": os.path.basename(folder),
        "objects": objects,
        "roots": roots,
        "links": links,
        "complete": False,  # the master updates its list of files only every 20 seconds
    }
    with open(os.path.join(folder, "tree.json"), "w", encoding="utf-8") as file:
        json.dump(description, file)
    return {environment: [os.path.join(folder, "roots", names[0])] for environment, names in roots.items()}


def _make_directories(root, files, directories):
    os.makedirs(root, 0o700)
    wanted = {os.path.dirname(path) for path in files} | set(directories)
    for path in sorted(wanted):
        if path not in ("", "."):
            os.makedirs(os.path.join(root, path), 0o700, exist_ok=True)


def environment_of(folder, path):
    """The environment, and the path within it, of a path below ``roots``; ``ValueError`` if there is none."""
    name, _, inner = path.partition("/")
    with open(os.path.join(folder, "tree.json"), encoding="utf-8") as file:
        roots = json.load(file)["roots"]
    for environment, names in roots.items():
        if name in names and inner and ".." not in inner.split("/"):
            return environment, inner
    raise ValueError(f"{path} is in no environment of the master")


def place(folder, path, cached):
    """Put the content of ``cached`` where the link of ``path`` points; a new file gets its link."""
    target, link = os.path.join(folder, "objects", path), os.path.join(folder, "roots", path)
    for file in (target, link):
        os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
    part = f"{target}.part"
    shutil.copy(cached, part)
    os.replace(part, target)
    if not os.path.lexists(link):
        os.symlink(target, link)


def is_listed(folder, path):
    """True if the master listed the path when the view was made."""
    return os.path.lexists(os.path.join(folder, "roots", path))
