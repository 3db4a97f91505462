"""Who may do what: operators, their credentials, the policy, and requests for approval."""
