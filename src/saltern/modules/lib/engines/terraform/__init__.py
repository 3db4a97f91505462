"""Terraform and OpenTofu: a plan, and what is applied of it; each resource is a step."""
