"""Files by digest: a controller publishes trees, and agents fetch what they lack."""
