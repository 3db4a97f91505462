"""Migration from Salt: compares its compilation with ours, and converts its configuration for a fleet."""
