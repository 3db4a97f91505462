"""Sources of ``ext_pillar`` that are built in. Each file has those of one kind."""
