"""A real Salt without a master: ``salt-call --local``, with an executor of ours; its states are steps."""
