"""What developers run by hand or through make. Nothing here is part of the package."""
