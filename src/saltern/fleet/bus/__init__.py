"""The message bus behind one small interface: NATS, or memory with faults on demand."""
