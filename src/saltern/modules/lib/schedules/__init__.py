"""The schedule: jobs to be run at times, in a file of the configuration directory.

The file has Salt's name and shape, ``_schedule.conf`` with the key ``schedule``. It is kept in order here;
the agent is to run what is in it.
"""
