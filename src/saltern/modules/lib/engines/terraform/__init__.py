"""Terraform and OpenTofu: plan, then apply the plan; each resource is a step."""
