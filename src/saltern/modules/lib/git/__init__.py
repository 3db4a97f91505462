"""Working copies of git: read, clone and update them."""
