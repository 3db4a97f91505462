"""Edit INI files, keeping everything else in them."""
