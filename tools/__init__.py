"""Tools that developers run by hand or through make. They are not part of the package."""
