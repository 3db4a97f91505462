"""``salt.ext``: libraries that Salt used to include."""
