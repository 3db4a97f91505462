#!json|sops
{
  "database": {
    "user_unencrypted": "reporting",
    "password": "ENC[AES256_GCM,data:WdCYO63r7LSwl09ij5xsBJfWc1Ov,iv:JkVtbbwV4ibhftjSMD72VfyDo3+oRhdFCM3NbckZG+4=,tag:ec70q+pSpvWAilRQEIHm3A==,type:str]"
  },
  "port_unencrypted": 5432,
  "sops": {
    "age": [
      {
        "recipient": "age1mj90t2ys9xyv7j24hf8pcppl9gt76l69uzpefl9cn2z2u0slvf4qmrag0g",
        "enc": "-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBkQm1Yem85SzZqUEdMRjFr\nOVhoMmVPVnltSHVCSGxnQTZPclJlK3pLR3dvCjJWVXZtWm12a2hvcEh6b2VZczBH\neHFHQjA1VG1nN1pvMWZuSno5NC9DNnMKLT4gMjlJci5DJEstZ3JlYXNlIFpeOmhp\nbDkgWEssRCBQQy92ZmsgUz8zKFM6CjVOTEUrajFDTjQxdWdFVStub1BWMFd0NVNW\nbER4QQotLS0gQk9qTGFwRnlHVllLV1RoR3NKai83b0tpMTI5SDN2dG91NkdPQk1S\naG04YwqKuKln6hkXiSKaqPcZF8UQSoBZ4k1YlDsQdkJV4IXKowsXFxzHE30MgvKn\nHLyL6oE366Q34NEXz9dhnpZz+y6y\n-----END AGE ENCRYPTED FILE-----\n"
      }
    ],
    "lastmodified": "2026-01-02T03:04:05Z",
    "mac": "ENC[AES256_GCM,data:PS3400ydSdSIXMpfzBLZ30Jyh2jBUNze8K7eK+eV0IZquXwmOeQ3j2bjKSW4Y0+7obrgDMuvRU5/P5rujpTfWN9uzd25Dau8Qx+aDY2ryr87ZmR33Vqlr0kXCQbP4cH7Mp/26slNyGaGepPveCf2P6kGoIfS+xHupyvdWd1lDEw=,iv:giWhJji2P9dBCNtu1iQMqYRzqdshbDA/Q3OCUb4RApM=,tag:RGq9aF93/BmH9+ZpYbfmDA==,type:str]",
    "version": "3.9.0",
    "unencrypted_suffix": "_unencrypted"
  }
}
