"""Write the extension into a file root of the master, for ``saltutil.sync_all``.

``python -m saltext.saltern DIRECTORY`` copies each kind of module into the directory that Salt synchronises.
"""

import pathlib
import shutil
import sys

KINDS = ("modules", "states", "runners", "returners", "utils", "grains")


def export(root):
    """Copy the modules of each kind below ``root``; return the files that were written."""
    written = []
    for kind in KINDS:
        folder = pathlib.Path(root) / f"_{kind}"
        folder.mkdir(parents=True, exist_ok=True)
        for source in sorted((pathlib.Path(__file__).parent / kind).glob("*.py")):
            if source.name != "__init__.py":
                written.append(shutil.copyfile(source, folder / source.name))
    return written


def main(words):
    if len(words) != 1 or words[0].startswith("-"):
        print("usage: python -m saltext.saltern DIRECTORY", file=sys.stderr)
        return 1
    for path in export(words[0]):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
