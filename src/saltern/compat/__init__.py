"""Stop 9b. Modules written for Salt, unchanged: the user's own, and Salt's if it is installed beside us.

Takes Python files that expect injected names, gives what ``modules`` calls: state functions and
execution functions. ``library.Library`` is the door; nothing but ``session`` knows that it exists.
"""
