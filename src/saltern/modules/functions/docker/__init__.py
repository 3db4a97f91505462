"""``docker``: containers, images, networks and volumes of a Docker engine. Needs only a running engine.

Its address is ``docker.url`` of the configuration or the pillar, or ``DOCKER_HOST``; the default is
``unix:///var/run/docker.sock``. ``LAZY`` says which submodule has which function; none is imported
before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    **dict.fromkeys(("info", "inspect", "login", "logout", "prune", "search", "version"), "server"),
    **dict.fromkeys(
        (
            "diff",
            "exists",
            "inspect_container",
            "list_containers",
            "logs",
            "pid",
            "port",
            "ps",
            "state",
            "top",
        ),
        "container_query",
    ),
    **dict.fromkeys(
        (
            "freeze",
            "kill",
            "pause",
            "restart",
            "signal",
            "start",
            "stop",
            "unfreeze",
            "unpause",
            "wait",
        ),
        "container_control",
    ),
    **dict.fromkeys(("create", "rename", "rm", "run_container"), "container_create"),
    **dict.fromkeys(("build", "commit", "import", "load", "pull", "push", "rmi", "tag"), "image_modify"),
    **dict.fromkeys(("retcode", "run", "run_all", "run_stderr", "run_stdout"), "inside"),
    **dict.fromkeys(("copy_from", "copy_to", "export", "save"), "files"),
    **dict.fromkeys(
        (
            "dangling",
            "depends",
            "history",
            "images",
            "inspect_image",
            "layers",
            "list_tags",
            "resolve_image_id",
            "resolve_tag",
        ),
        "image_query",
    ),
    **dict.fromkeys(
        (
            "connect_container_to_network",
            "connected",
            "create_network",
            "disconnect_all_containers_from_network",
            "disconnect_container_from_network",
            "inspect_network",
            "networks",
            "remove_network",
        ),
        "networks",
    ),
    **dict.fromkeys(("create_volume", "inspect_volume", "remove_volume", "volumes"), "volumes"),
}
