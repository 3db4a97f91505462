from io import StringIO

from pyinfra import host
from pyinfra.operations import files, server

files.directory(name="a directory", path=f"{host.data.target}/shop")

sign = files.put(
    name="the sign on the door",
    src=StringIO(f"{host.data.greeting}\n"),
    dest=f"{host.data.target}/shop/sign",
)

server.shell(name="ring the bell", commands=["echo ding"], _if=sign.did_change)

server.shell(name="feed the cat", commands=["echo no cat here >&2; exit 1"], _ignore_errors=True)
