"""INI files, edited so that all else in them stays."""
