"""Keys, certificates, requests and revocation lists: read, compared, made and encoded.

Shared by the states and the functions of ``x509``. Needs the Python library ``cryptography``.
"""
