"""The bundle that is sent to a host once: saltern and its few libraries, for the host's interpreter."""
