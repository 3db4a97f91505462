"""Many machines: controllers and agents that talk over a message bus. Nothing on one machine imports this."""
