"""What runs inside of other engines, with their Python: it reports each result when it is there.

Nothing of saltern can be imported here, nor anything that the engine does not bring; no syntax newer than
Python 3.8; and nothing that goes wrong in reporting may hurt the run.
"""
