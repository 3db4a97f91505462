#!py
def run():
    place = data["place"]
    return {
        f"mark {host}": {"local.cmd.run": [{"tgt": host}, {"arg": [f"echo {host} >> {place}/python"]}]}
        for host in data["hosts"]
    }
