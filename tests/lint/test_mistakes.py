"""What people who are new to it get wrong: each mistake is told with its place and with what to do.

The right column is the fix, or what is said if that is all there is to say.
"""

from __future__ import annotations

import pytest
from tests.lint.checking import checked

# A file → place, code, and what to do.
MISTAKES: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("nginx:\n\tpkg.installed: []\n", [("2:1", "tab-indent", "two spaces for each level")]),
    ("nginx\n  pkg.installed: []\n", [("1:6", "yaml-syntax", "end 'nginx' with a ':'")]),
    (
        "nginx:\n  pkg.installed\n    - name: nginx\n",
        [("2:16", "yaml-syntax", "end 'pkg.installed' with a ':'")],
    ),
    (
        "nginx:\n  pkg.installed:\n    - name:nginx\n",
        [("3:7", "function-twice", "a blank is missing after the ':': write '- name: nginx'")],
    ),
    (
        "nginx:\n  pkg.installed:\n    -name: nginx\n",
        [("2:3", "arguments-not-list", "a blank is missing after a '-'")],
    ),
    (
        "nginx:\n  pkg.installed:\n    name: nginx\n",
        [("2:3", "arguments-not-list", "begin each argument with '- '")],
    ),
    (
        "nginx:\n  pkg.installed:\n    - name: nginx\n     - version: 1\n",
        [("4:6", "yaml-syntax", "check the indentation of this list")],
    ),
    (
        "nginx:\npkg.installed:\n  - name: nginx\n",
        [
            (
                "1:1",
                "id-not-mapping",
                "write the state below it, such as 'file.managed:', indented, and its arguments below that",
            ),
            ("2:1", "id-not-mapping", "'pkg.installed' looks like a state: indent it below an ID"),
        ],
    ),
    (
        "/etc/x:\n  file.managed:\n    - source: salt://x\n  - mode: 644\n",
        [("4:3", "yaml-syntax", "check the indentation, and that every quote is closed")],
    ),
    (
        "nginx:\n  pkgs.installed: []\n",
        [("2:3", "state-unknown", "no state module is called 'pkgs'; did you mean 'pkg'?")],
    ),
    (
        "nginx:\n  pkg.install: []\n",
        [
            (
                "2:3",
                "state-unknown",
                "the state module 'pkg' has no function 'install'; did you mean 'installed'?",
            )
        ],
    ),
    ("nginx:\n  pkg: []\n", [("2:3", "function-missing", "write 'pkg.FUNCTION:', such as 'file.managed:'")]),
    (
        "/etc/x:\n  file.managed:\n    - sourc: salt://x\n",
        [("3:7", "argument-unknown", "file.managed: no argument is called 'sourc'; did you mean 'source'?")],
    ),
    (
        "nginx:\n  pkg.installed:\n    - require: pkg: x\n",
        [
            (
                "3:19",
                "yaml-syntax",
                "put the target on a line of its own, indented below 'require:': '- pkg: x'",
            )
        ],
    ),
    (
        "nginx:\n  pkg.installed:\n    - require:\n        pkg: x\n",
        [("3:7", "requisite-not-list", "begin each target with '- '")],
    ),
    (
        "nginx:\n  pkg.installed:\n    - require:\n      pkg: x\n",
        [
            ("3:7", "argument-several", "begin each argument with '- '; check the indentation below it"),
            (
                "3:7",
                "requisite-not-list",
                "write its targets below it, indented more than 'require': '- pkg: nginx'",
            ),
        ],
    ),
    (
        "nginx:\n  service.running:\n    - require: nginx-pkg\n",
        [("3:7", "requisite-not-list", "begin each target with '- '")],
    ),
    (
        "a:\n  pkg.installed: []\nb:\n  service.running:\n    - require:\n      - pkg.installed: a\n",
        [("6:9", "requisite-dotted", "write '- pkg: a'")],
    ),
    (
        "b:\n  service.running:\n    - require:\n      - pkg: nginx\n",
        [
            (
                "4:9",
                "requisite-unknown",
                "include the file that declares it"
                " (Salt 3006 fails this state only; 3008 refuses the run, too)",
            )
        ],
    ),
    (
        "nginx:\n  pkg.installed: []\nb:\n  service.running:\n    - requires:\n      - pkg: nginx\n",
        [
            (
                "5:7",
                "argument-unknown",
                "service.running: no argument is called 'requires'; did you mean 'require'?",
            )
        ],
    ),
    (
        "nginx:\n  pkg.installed: []\nb:\n  service.running:\n    - require:\n      - file: nginx\n",
        [("6:9", "requisite-unknown", "'nginx' is of type 'pkg': write '- pkg: nginx'")],
    ),
    (
        "nginx:\n  pkg.installed: []\nnginx:\n  service.running: []\n",
        [("3:1", "yaml-duplicate-key", "rename or remove one")],
    ),
    (
        "nginx:\n  pkg.installed: []\n  pkg.latest: []\n",
        [("3:3", "state-twice", "give one of them its own ID")],
    ),
    (
        "{{ foo }}:\n  pkg.installed: []\n",
        [("1", "template-undefined", "define it, or give it a default: {{ x | default('…') }}")],
    ),
    (
        "a:\n  test.nop:\n    - name: {{ pillar['web']['port'] }}\n",
        [
            (
                "3",
                "template-undefined",
                "give it to this machine in the pillar, or ask with a default: pillar.get('web', '…')",
            )
        ],
    ),
    (
        "a:\n  test.nop:\n    - name: {{ grains.osfamily }}\n",
        [("3", "template-undefined", "did you mean 'os_family'?")],
    ),
    (
        "{% set x = {'a': 1} %}\na:\n  test.nop:\n    - name: {{ x.b.c }}\n",
        [("4", "template-undefined", "define it, or give it a default: {{ x | default('…') }}")],
    ),
    (
        "a:\n  test.nop:\n    - name: {{ salt['pillar.gett']('x') }}\n",
        [("3", "template-function", "the module 'pillar' has no function 'gett'; did you mean 'get'?")],
    ),
    (
        "a:\n  test.nop:\n    - name: {{ salt.pillar.got('x') }}\n",
        [("3", "template-function", "the module 'pillar' has no function 'got'; did you mean 'get'?")],
    ),
    (
        "{% if grains['os'] == 'Debian' %}\na:\n  pkg.installed: []\n",
        [("1", "template-syntax", "close 'if' first: {% endif %}")],
    ),
    (
        "{% for x in [1,2] %}\na{{ x }}:\n  pkg.installed: []\n{% endif %}\n",
        [("4", "template-syntax", "close 'for' first: {% endfor %}")],
    ),
    (
        "a:\n  test.nop:\n    - name: {{ grains['os'] }\n",
        [("3", "template-syntax", "end an expression with '}}', a tag with '%}'")],
    ),
    (
        "{% if True }\na:\n  test.nop: []\n{% endif %}\n",
        [("1", "template-syntax", "end an expression with '}}', a tag with '%}'")],
    ),
    (
        "{% if True %}\na:\n  test.nop: []\n{% elseif False %}\n{% endif %}\n",
        [("4", "template-syntax", "it is called 'elif' here")],
    ),
    ("a:\n  test.nop:\n    - name: {{ 'x' | uper }}\n", [("3", "template-syntax", "did you mean 'upper'?")]),
    (
        "/etc/x:\n  file.managed:\n    - contents: a\n    - mode: 0644\n",
        [("4:13", "unquoted-octal", "quote it: '0644'")],
    ),
    (
        "/etc/x:\n  file.managed:\n    - contents: a\n    - mode: u=rw\n",
        [
            (
                "4:7",
                "argument-value",
                "file.managed: the argument 'mode' needs an octal file mode such as 0644, got 'u=rw'",
            )
        ],
    ),
    (
        "nginx:\n  service.running:\n    - enable: yes\n    - name: no\n",
        [("4:13", "unquoted-text", "quote it: 'no'")],
    ),
    (
        "nginx:\n  service.running:\n    - enable: 'maybe'\n",
        [
            (
                "3:7",
                "argument-value",
                "service.running: the argument 'enable' needs true or false, got 'maybe'",
            )
        ],
    ),
    (
        "a:\n  cmd.run:\n    - name: echo foo: bar\n",
        [("3:21", "yaml-syntax", "quote what follows 'name:', since it contains ': '")],
    ),
    (
        "a:\n  cmd.run:\n    - name: %h\n",
        [
            (
                "3:13",
                "yaml-syntax",
                "tabs may not indent; a value that starts with '%', '@' or '`' needs quotes",
            )
        ],
    ),
    (
        "a:\n  cron.present:\n    - name: x\n    - minute: *\n",
        [("4:16", "yaml-syntax", "a value that starts with '*' or '&' needs quotes")],
    ),
    (
        "a:\n  cmd.run:\n    - name: @x\n",
        [
            (
                "3:13",
                "yaml-syntax",
                "tabs may not indent; a value that starts with '%', '@' or '`' needs quotes",
            )
        ],
    ),
    (
        "a:\n  cmd.run:\n    - name: 'it's'\n",
        [("3:17", "yaml-syntax", "check the indentation, and that every quote is closed")],
    ),
    (
        'a:\n  cmd.run:\n    - name: "abc\n    - cwd: /\n',
        [("3:13", "yaml-syntax", "a quote or bracket is not closed")],
    ),
    ("include: web\n", [("1:1", "include-not-list", "begin each name with '- '")]),
    (
        "include:\n  - webb\n",
        [("2:5", "sls-not-found", "it would be webb.sls or webb/init.sls in a file root")],
    ),
    ("include:\n  - web.sls\n", [("2:5", "sls-not-found", "leave out '.sls': 'web'")]),
    (
        "include:\n  - web/foo\n",
        [("2:5", "sls-not-found", "it would be web/foo.sls or web/foo/init.sls in a file root")],
    ),
    ("includes:\n  - web\n", [("1:1", "id-not-mapping", "did you mean 'include'?")]),
    (
        "extend:\n  nope:\n    file:\n      - mode: 1\n",
        [("3:5", "extend-unknown", "include the file that declares it")],
    ),
    (
        "- nginx:\n    pkg.installed: []\n",
        [("1:1", "sls-not-mapping", "every state needs an ID: 'some_id:' with the state indented below it")],
    ),
    (
        "hello\n",
        [("1:1", "sls-not-mapping", "every state needs an ID: 'some_id:' with the state indented below it")],
    ),
    (
        "/etc/x:\n  file.managed:\n    - source: salt:/x\n",
        [("3:7", "source-missing", "write 'salt://x' for a file of the file roots")],
    ),
    (
        "/etc/x:\n  file.managed:\n    - source: files/x\n",
        [("3:7", "source-missing", "write 'salt://files/x' for a file of the file roots")],
    ),
    ("p:\n  user.present:\n    - names: bob\n", [("3:7", "names-not-list", "begin each name with '- '")]),
    (
        "p:\n  cmd.run:\n    - name: x\n    - onlyif: true\n",
        [("4:7", "condition-ignored", "write a command, or {fun: module.function}")],
    ),
    (
        "p:\n  cmd.run:\n    - name: x\n    - name: y\n    - creates: /x\n",
        [("3:7", "argument-twice", "keep one of them")],
    ),
    ("80:\n  test.nop: []\n", [("1:1", "id-not-text", "put it in quotes")]),
    (
        "conf:\n  file.managed:\n    - name: etc/x\n    - contents: a\n",
        [("3:7", "path-relative", "begin it with '/'")],
    ),
    (
        "bob:\n  user.present:\n    - uid: abc\n",
        [("3:7", "argument-value", "user.present: the argument 'uid' needs a number, got 'abc'")],
    ),
    (
        "nginx:\n  pkg.installed:\n    - name: nginx\n    - require:\n    - pkg: x\n",
        [
            (
                "4:7",
                "requisite-not-list",
                "write its targets below it, indented more than 'require': '- pkg: nginx'",
            )
        ],
    ),
    (
        "a:\n  test.nop: []\n{% if True %}\nb:\n  test.nop: []\n\n",
        [("3", "template-syntax", "close 'if' first: {% endif %}")],
    ),
    ("{% fro 'x' import y %}\n", [("1", "template-syntax", "did you mean 'from'?")]),
    ("a: {{ x.  }}\n", [("1", "template-syntax", "a name is missing after a '.'")]),
    ("a: {{ }}\n", [("1", "template-syntax", "something is missing before '}}' or '%}'")]),
    ("{% set x = %}\n", [("1", "template-syntax", "something is missing before '}}' or '%}'")]),
    ("{% if grains['os'] = 'Debian' %}\n{% endif %}\n", [("1", "template-syntax", "compare with '=='")]),
    ("{{ 'abc }}\n", [("1", "template-syntax", "a quote is not closed")]),
    ("{# never closed\na: b\n", [("1", "template-syntax", "end the comment with '#}'")]),
    (
        "{% if true %}\n{% for x in y %}\n{% endif %}\n{% endfor %}\n",
        [("3", "template-syntax", "close 'for' first: {% endfor %}")],
    ),
    (
        "{% for x in pillar.get('users') %}\n{{ x }}:\n  test.nop: []\n{% endfor %}\n",
        [("1", "template-failed", "it is None here: loop over '(… or [])'")],
    ),
    (
        "{% for k, v in {'a': 1} %}\n{{ k }}:\n  test.nop: []\n{% endfor %}\n",
        [("1", "template-failed", "to loop over names and values, add '.items()'")],
    ),
    (
        "a:\n  test.nop:\n    - name: {{ 'a' + 1 }}\n",
        [("3", "template-failed", "join text with '~', which takes numbers, too")],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), MISTAKES, ids=[text.split()[0][:20] for text, _ in MISTAKES])
def test_a_mistake_is_reported_with_its_place_and_what_to_do(
    text: str, wanted: list[tuple[str, str, str]]
) -> None:
    found = checked({"main.sls": text}).problems
    told = [
        (f"{one.where.line}:{one.where.column}" if one.where.column else f"{one.where.line}", one)
        for one in found
        if one.where is not None
    ]
    assert [(place, one.code, one.fix or one.what) for place, one in told] == wanted
