"""Files by their digest: trees that a controller publishes, and agents fetch what they lack of them."""
