"""Where package managers get their packages from: the files that say so, read and written."""
