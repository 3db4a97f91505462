#!py
"""A state file in Python: ``run`` returns the data."""


def run():
    return {
        f"{pillar['target']}/python-{number}.txt": {
            "file.managed": [{"contents": f"number {number}"}, {"makedirs": True}],
        }
        for number in range(1, 3)
    }
