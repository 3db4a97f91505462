"""The example of Salt's ordering tutorial, word for word: its high data, its low data, its order."""

from __future__ import annotations

from tests import kit

BLAH = """\
apache:
  pkg.installed:
    - name: httpd
  service.running:
    - name: httpd
    - watch:
      - file: apache_conf
      - pkg: apache

apache_conf:
  file.managed:
    - name: /etc/httpd/conf.d/httpd.conf
    - source: salt://apache/httpd.conf
"""
FILES = {"blah.sls": BLAH}
REQUEST = {"sls": ("blah",)}
WATCH = [{"file": "apache_conf"}, {"pkg": "apache"}]


def test_high_data_is_the_documented_one() -> None:
    assert kit.high(FILES, request=REQUEST) == {
        "apache": {
            "pkg": [{"name": "httpd"}, "installed", {"order": 10000}],
            "service": [{"name": "httpd"}, {"watch": WATCH}, "running", {"order": 10001}],
            "__sls__": "blah",
            "__env__": "base",
        },
        "apache_conf": {
            "file": [
                {"name": "/etc/httpd/conf.d/httpd.conf"},
                {"source": "salt://apache/httpd.conf"},
                "managed",
                {"order": 10002},
            ],
            "__sls__": "blah",
            "__env__": "base",
        },
    }


def test_low_data_is_the_documented_one() -> None:
    assert kit.low(FILES, request=REQUEST) == [
        {
            "name": "httpd",
            "state": "pkg",
            "__id__": "apache",
            "fun": "installed",
            "__env__": "base",
            "__sls__": "blah",
            "order": 10000,
        },
        {
            "name": "httpd",
            "watch": WATCH,
            "state": "service",
            "__id__": "apache",
            "fun": "running",
            "__env__": "base",
            "__sls__": "blah",
            "order": 10001,
        },
        {
            "name": "/etc/httpd/conf.d/httpd.conf",
            "source": "salt://apache/httpd.conf",
            "state": "file",
            "__id__": "apache_conf",
            "fun": "managed",
            "__env__": "base",
            "__sls__": "blah",
            "order": 10002,
        },
    ]


def test_the_file_is_pulled_forward_by_the_service_that_watches_it() -> None:
    sequence = [row["state"] for row in kit.order(FILES, request=REQUEST)]
    assert sequence == ["pkg.installed", "file.managed", "service.running"]
