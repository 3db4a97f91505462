#!py
"""Jobs are easier to build in Python than in a template."""

TIMES = ("minute", "hour", "daymonth", "month", "dayweek", "special")
MORE = ("comment", "commented", "identifier")


def run():
    settings = __pillar__.get("cronjobs", {})
    high = {}
    for key, value in sorted(settings.get("env", {}).items()):
        high[f"cronjobs-env-{key}"] = {"cron.env_present": [{"name": key}, {"value": value}, {"user": "root"}]}
    before = None
    for key, task in settings.get("tasks", {}).items():
        target = task.get("only")
        if target and not __salt__["match.compound"](target):
            continue
        args = [{"name": task["name"]}, {"user": task.get("user", "root")}]
        args += [{word: task[word]} for word in (*TIMES, *MORE) if word in task]
        if task.get("type", "present") == "present":
            args.append({"identifier": f"{grains['host']}:{key}"})
        if before:
            args.append({"require": [{"cron": before}]})
        before = f"cronjobs-{key}"
        high[before] = {"cron": [task.get("type", "present"), *args]}
    if before is None:
        return {"cronjobs-none": "test.nop"}
    high["include"] = [f"{sls.rpartition('.')[0]}.package"]
    return high
