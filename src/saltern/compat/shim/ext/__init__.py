"""``salt.ext``: libraries Salt used to carry."""
