"""The schedule: jobs that run at certain times, in a file of the configuration directory.

The file has Salt's name and format, ``_schedule.conf`` with the key ``schedule``. It is edited here;
the agent runs its jobs.
"""
