"""Chef: ``chef-client`` and ``chef-solo``, with an event handler of ours; each resource is a step."""
