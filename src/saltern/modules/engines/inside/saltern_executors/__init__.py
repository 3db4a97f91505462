"""An executor for Salt."""
