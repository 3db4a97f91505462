"""What is sent to a host once: saltern and its few libraries, for the interpreter that is there."""
