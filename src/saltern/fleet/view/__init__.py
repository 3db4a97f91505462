"""What people see of many systems: notices and returns become lines. Pure; nothing here reads or writes."""
