"""Keys, certificates, requests and revocation lists: read, compare, create and encode them.

Shared by the states and the functions of ``x509``. Needs the Python library ``cryptography``.
"""
