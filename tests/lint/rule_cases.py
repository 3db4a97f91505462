"""For every rule, trees in which it finds something, and trees that come close and are fine.

A tree is one text, ``main.sls``, or several files.
"""

from __future__ import annotations

from collections.abc import Mapping

Tree = str | Mapping[str, str]

CALLER = """\
vm:
  test.nop:
    - delayed_render:
      - block: after
"""


def block(text: str, caller: str = CALLER) -> str:
    return f"{caller}\n#!delayed_block after\n{text}#!end_delayed_block after\n"


TEMPLATED = "/x:\n  file.managed:\n    - source: salt://t.j2\n    - template: jinja\n"
TOP = "base:\n  '*':\n    - main\n"

# The name of a rule → trees in which it finds something.
BAD: dict[str, list[Tree]] = {
    "tab-indent": ["a:\n\ttest.nop: []\n", "a:\n  test.nop:\n  \t- comment: x\n"],
    "trailing-whitespace": ["a:  \n  test.nop: []\n", "a:\n  test.nop: []\n   \nb:\n  test.nop: []\n"],
    "missing-final-newline": ["a:\n  test.nop: []"],
    "old-renderer-spelling": ["#!yaml_jinja\na:\n  test.nop: []\n"],
    "unquoted-octal": [
        "/x:\n  file.managed:\n    - contents: x\n    - mode: 0644\n",
        "/x:\n  file.directory:\n    - dir_mode: 0755  # as ever\n",
    ],
    "base-sixty": ["a:\n  test.nop:\n    - names:\n      - 22:30\n"],
    "unquoted-text": [
        "a:\n  test.nop:\n    - name: yes\n",
        "a:\n  pkg.installed:\n    - version: 1.10\n",
        "a:\n  user.present:\n    - name: ~\n",
    ],
    "literal-secret": [
        "ada:\n  user.present:\n    - password: hunter2\n",
        "ada:\n  mysql_user.present:\n    - connection_password: 'hunter2'\n",
    ],
    "jinja-in-comment": [
        "a:\n  test.nop: []\n  # was {{ pillar.get('x') }}\n",
        "# {% set x = 1 %}\na:\n  test.nop: []\n",
    ],
    "unquoted-jinja": ["a:\n  test.nop:\n    - name: {{ 'x' }}\n"],
    "command-unguarded": ["a:\n  cmd.run:\n    - name: make install\n"],
    "watch-without-reaction": [
        "a:\n  test.nop: []\nb:\n  alias.present:\n    - target: x\n    - watch:\n      - test: a\n",
        "a:\n  test.nop:\n    - watch_in:\n      - alias: b\nb:\n  alias.present:\n    - target: x\n",
    ],
    "order-with-requisites": [
        "a:\n  test.nop: []\nb:\n  test.nop:\n    - order: 1\n    - require:\n      - test: a\n"
    ],
    "argument-value": [
        "/x:\n  file.managed:\n    - contents: x\n    - makedirs: perhaps\n",
        "/x:\n  file.managed:\n    - contents: x\n    - mode: rw-r--r--\n",
    ],
    "argument-twice": ["a:\n  test.nop:\n    - comment: x\n    - comment: y\n"],
    "path-relative": [
        "conf:\n  file.managed:\n    - contents: x\n",
        "conf:\n  file.directory:\n    - name: etc/x\n",
        "conf:\n  file.absent:\n    - names: [/x, y]\n",
    ],
    "source-missing": [
        "/x:\n  file.managed:\n    - source: files/x\n",
        "/x:\n  file.managed:\n    - source: salt:/x\n",
        "/x:\n  file.managed:\n    - source: salt://files/gone\n",
        "/x:\n  file.managed:\n    - source:\n      - salt://gone\n      - salt://gone-too\n",
        "/x:\n  file.recurse:\n    - source: salt://gone\n",
    ],
    "source-template": [
        {"main.sls": TEMPLATED, "t.j2": "{{ gone.thing }}\n"},
        {"main.sls": TEMPLATED, "t.j2": "{{ salt['x.y']() }}\n{% if %}\n"},
    ],
    "requisite-not-included": [
        {
            "top.sls": "base:\n  '*':\n    - a\n    - b\n",
            "a.sls": "one:\n  test.nop: []\n",
            "b.sls": "two:\n  test.nop:\n    - require:\n      - test: one\n",
        }
    ],
    "include-twice": [
        {"main.sls": "include:\n  - other\n  - other\n", "other.sls": "a:\n  test.nop: []\n"},
        {"main.sls": "include:\n  - other\n  - .other\n", "other.sls": "a:\n  test.nop: []\n"},
    ],
    "include-cycle": [
        {"main.sls": "include: [main]\na:\n  test.nop: []\n"},
        {
            "one.sls": "include: [two]\na:\n  test.nop: []\n",
            "two.sls": "include: [three]\nb:\n  test.nop: []\n",
            "three.sls": "include: [one]\nc:\n  test.nop: []\n",
        },
    ],
    "sls-unreachable": [
        {"web.d.sls": "a:\n  test.nop: []\n"},
        {"web.sls": "a:\n  test.nop: []\n", "web/init.sls": "b:\n  test.nop: []\n"},
    ],
    "sls-unused": [{"top.sls": TOP, "main.sls": "a:\n  test.nop: []\n", "other.sls": "b:\n  test.nop: []\n"}],
    "id-in-two-files": [{"one.sls": "a:\n  test.nop: []\n", "two.sls": "a:\n  test.nop: []\n"}],
    "prev-ret-changes": [
        block("x:\n  test.nop:\n    - comment: {{ prev_ret.changes.stdout | tojson }}\n"),
        block("x:\n  test.nop:\n    - comment: {{ prev_ret['changes']['pid'] | tojson }}\n"),
        block("{% if prev_ret.changes.new %}\nx:\n  test.nop: []\n{% endif %}\n"),
    ],
    "prev-ret-unquoted": [
        block("x:\n  test.nop:\n    - comment: {{ prev_ret.data.ip }}\n"),
        block("{{ prev_ret.data.id }}:\n  test.nop: []\n"),
        block("x:\n  test.nop:\n    - name: /srv/{{ prev_ret.data.id }}/x\n"),
        {
            "main.sls": "vm:\n  test.nop:\n    - delayed_render:\n      - sls: later\n",
            "later.sls": "- {{ prev_ret }}\n",
        },
    ],
    "delayed-unused": ["a:\n  test.nop: []\n#!delayed_block lost\nx:\n  test.nop: []\n#!end_delayed_block\n"],
    "delayed-unknown": [CALLER, block("x:\n  test.nop: []\n", CALLER.replace("after", "aftre"))],
    "delayed-limit-low": [
        block("x:\n  test.nop: []\n", CALLER + "    - names: [one, two, three]\n"),
        block(
            "x:\n  test.nop: []\n",
            "{% for i in range(3) %}" + CALLER.replace("vm", "vm{{ i }}") + "{% endfor %}",
        ),
    ],
    "delayed-end-unnamed": [f"{CALLER}#!delayed_block after\nx:\n  test.nop: []\n#!end_delayed_block\n"],
    "delayed-draft-spelling": [
        f"{CALLER}{{% delayed_block after %}}\nx:\n  test.nop: []\n{{% end_delayed_block %}}\n"
    ],
    "short-form-colon": ["a:\n  test.nop:\n"],
    "state-unknown": ["a:\n  pgk.installed: []\n", "a:\n  pkg.instaled: []\n"],
    "argument-unknown": [
        "/x:\n  file.absent:\n    - mod: 644\n",
        "/x:\n  file.managed:\n    - content: x\n",
        "x:\n  pkg.installed:\n    - verison: 1\n",
        "x:\n  service.running:\n    - enabel: true\n",
        "x:\n  cmd.run:\n    - cwdd: /\n    - unless: 'true'\n",
    ],
    "argument-missing": ["a:\n  alias.present: []\n"],
    "argument-bare": ["a:\n  test.nop:\n    - true\n"],
    "argument-suspicious": ["a:\n  test.nop:\n    - requires:\n      - test: b\nb:\n  test.nop: []\n"],
    "argument-unsupported": ["a:\n  pkg.installed:\n    - pkg_verify: true\n"],
    "requisite-unknown": ["a:\n  test.nop:\n    - require:\n      - test: gone\n"],
    "requisite-matches-nothing": ["a:\n  test.nop:\n    - require:\n      - test: gone*\n"],
    "id-conflict": [
        {
            "top.sls": "base:\n  'other':\n    - a\n    - b\n",
            "a.sls": "x:\n  test.nop: []\n",
            "b.sls": "x:\n  test.nop: []\n",
        }
    ],
    "sls-not-found": [
        "include:\n  - gone\n",
        {"top.sls": "base:\n  'other':\n    - gone\n", "main.sls": "a:\n  test.nop: []\n"},
    ],
    "template-undefined": ["a:\n  test.nop:\n    - comment: {{ pillar['gone'] }}\n"],
    "condition-ignored": ["a:\n  test.nop:\n    - onlyif:\n      - [true]\n"],
    "exclude-matches-nothing": ["exclude:\n  - id: gone\na:\n  test.nop: []\n"],
    "use-unknown": ["a:\n  test.nop:\n    - use:\n      - test: gone\n"],
    "requisite-in-unknown": [
        "a:\n  test.nop:\n    - require_in:\n      - test: gone\n",
        "a:\n  test.nop:\n    - watch_in:\n      - gone\n",
        "a:\n  test.nop:\n    - require_in:\n      - sls: gone\n",
        "a:\n  test.nop:\n    - listen_in:\n      - test: gone\n",
    ],
    "requisite-repeated": [
        "a:\n  test.nop:\n    - require:\n      - b\n    - require:\n      - b\nb:\n  test.nop: []\n",
        "a:\n  test.nop:\n    - watch_in:\n      - b\n    - watch_in:\n      - b\nb:\n  test.nop: []\n",
    ],
    "extend-by-argument": [
        {
            "main.sls": "include: [other]\nextend:\n  /etc/x:\n    file:\n      - mode: '0600'\n",
            "other.sls": "conf:\n  file.managed:\n    - name: /y\n    - contents: /etc/x\n",
        }
    ],
    "extend-overridden": [
        {
            "main.sls": "include: [two]\nextend:\n  a:\n    test:\n      - comment: x\n",
            "two.sls": "include: [one]\nextend:\n  a:\n    test:\n      - comment: y\n",
            "one.sls": "a:\n  test.nop: []\n",
        }
    ],
    "function-too-long": ["a:\n  test.nop.x: []\n"],
    "name-not-text": ["a:\n  test.nop:\n    - name: 5\n"],
    "names-empty": ["a:\n  test.nop:\n    - names: []\n"],
    "order-unknown": ["a:\n  test.nop:\n    - order: soon\n"],
    "top-target": [{"top.sls": "base:\n  'N@gone':\n    - main\n", "main.sls": "a:\n  test.nop: []\n"}],
}

# The name of a rule → trees that come close, in which it finds nothing.
GOOD: dict[str, list[Tree]] = {
    "tab-indent": ["a:\n  test.nop:\n    - comment: |\n        all:\n        \tmake\n"],
    "trailing-whitespace": [
        "a:\n  test.nop:\n    - comment: |\n        two blanks:  \n          \n        end\n"
    ],
    "missing-final-newline": ["a:\n  test.nop: []\n", ""],
    "old-renderer-spelling": ["#!jinja|yaml\na:\n  test.nop: []\n"],
    "unquoted-octal": [
        "/x:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
        "/x:\n  file.managed:\n    - contents: x\n    - mode: 644\n",
        "/x:\n  file.managed:\n    - contents: |\n        - mode: 0644\n",
    ],
    "base-sixty": ["a:\n  test.nop:\n    - names:\n      - '22:30'\n      - 8080:80\n      - a:30\n"],
    "unquoted-text": [
        "a:\n  test.nop:\n    - name: 'yes'\n",
        "a:\n  pkg.installed:\n    - version: 1.2\n",
        "a:\n  pkg.installed:\n    - version: 1.10-1\n    - refresh: yes\n",
    ],
    "literal-secret": [
        "ada:\n  user.present:\n    - password: {{ pillar.get('p', 'x') }}\n",
        "ada:\n  user.present:\n    - password: $6$salt$hash\n",
        "ada:\n  user.present:\n    - password: '*'\n",
    ],
    "jinja-in-comment": [
        "a:\n  test.nop: []\n  {# was {{ pillar.x }} #}\n",
        "a:\n  test.nop:\n    - comment: |\n        # {{ 'x' }}\n",
    ],
    "unquoted-jinja": [
        "a:\n  test.nop:\n    - name: {{ 'x' | tojson }}\n",
        "a:\n  test.nop:\n    - name: '{{ 'x' }}'\n",
        "{{ 'a' }}:\n  test.nop: []\n",
    ],
    "command-unguarded": [
        "a:\n  cmd.run:\n    - name: make install\n    - creates: /usr/local/bin/x\n",
        "a:\n  cmd.run:\n    - name: x\nb:\n  test.nop:\n    - onchanges_in:\n      - cmd: a\n",
        "a:\n  cmd.run:\n    - name: x\n    - stateful: true\n",
        "a:\n  cmd.wait:\n    - name: x\n",
        "a:\n  salt.state:\n    - tgt: '*'\n    - sls: web\n",
    ],
    "watch-without-reaction": [
        "a:\n  test.nop: []\nb:\n  service.running:\n    - watch:\n      - test: a\n",
        "a:\n  test.nop:\n    - watch_in:\n      - cmd: b\nb:\n  cmd.wait:\n    - name: x\n",
    ],
    "order-with-requisites": [
        "a:\n  test.nop:\n    - order: 1\nb:\n  test.nop:\n    - require:\n      - test: a\n",
        "a:\n  test.nop:\n    - require_in:\n      - test: b\nb:\n  test.nop:\n    - order: last\n",
    ],
    "argument-value": [
        "/x:\n  file.managed:\n    - contents: x\n    - makedirs: true\n    - mode: 644\n",
        "/x:\n  file.managed:\n    - contents: x\n    - makedirs: __slot__:salt:test.true()\n",
    ],
    "argument-twice": [
        "a:\n  test.nop:\n    - require: [{test: b}]\n    - require: [{test: c}]\nb: test.nop\nc: test.nop\n",
        {
            "main.sls": "include: [other]\nextend:\n  a:\n    test:\n      - comment: x\n",
            "other.sls": "a:\n  test.nop:\n    - comment: y\n",
        },
    ],
    "path-relative": [
        "conf:\n  file.managed:\n    - name: /etc/x\n    - contents: x\n",
        "~/x:\n  file.touch: []\n",
        "conf:\n  file.accumulated:\n    - filename: /x\n    - text: y\n",
    ],
    "source-missing": [
        {"main.sls": "/x:\n  file.managed:\n    - source: salt://files/x\n", "files/x": ""},
        {"main.sls": "/x:\n  file.managed:\n    - source: [salt://gone, salt://files/x]\n", "files/x": ""},
        {"main.sls": "/x:\n  file.recurse:\n    - source: salt://files\n", "files/x": ""},
        "/x:\n  file.managed:\n    - source: https://example.org/x\n    - skip_verify: true\n",
    ],
    "source-template": [
        {"main.sls": TEMPLATED, "t.j2": "{{ salt['user.info']('ada').home }}\n"},
        {"main.sls": TEMPLATED + "    - context: {gone: 1}\n", "t.j2": "{{ gone }}\n"},
    ],
    "requisite-not-included": [
        {
            "top.sls": "base:\n  '*':\n    - b\n",
            "a.sls": "one:\n  test.nop: []\n",
            "b.sls": "include: [a]\ntwo:\n  test.nop:\n    - require:\n      - test: one\n      - sls: a\n",
        },
        {
            "top.sls": "base:\n  '*':\n    - a\n    - b\n",
            "a.sls": "one:\n  test.nop:\n    - require:\n      - test: zero\nzero:\n  test.nop: []\n",
            "b.sls": "include: [a]\nextend:\n  one:\n    test:\n      - require:\n        - test: two\n"
            "two:\n  test.nop: []\n",
        },
    ],
    "include-twice": [
        {
            "main.sls": "include: [one, two]\n",
            "one.sls": "include: [two]\na:\n  test.nop: []\n",
            "two.sls": "b:\n  test.nop: []\n",
        }
    ],
    "include-cycle": [
        {
            "main.sls": "include: [one, two]\n",
            "one.sls": "include: [two]\na:\n  test.nop: []\n",
            "two.sls": "b:\n  test.nop: []\n",
        }
    ],
    "sls-unreachable": [{"web/init.sls": "a:\n  test.nop: []\n", "web/d.sls": "b:\n  test.nop: []\n"}],
    "sls-unused": [
        {
            "top.sls": "base:\n  'nobody':\n    - main\n    - p*\n",
            "main.sls": "include: [other]\nvm:\n  test.nop:\n    - delayed_render:\n      - sls: later\n",
            "other.sls": "b:\n  test.nop: []\n",
            "later.sls": "c:\n  test.nop: []\n",
            "pattern.sls": "d:\n  test.nop: []\n",
        },
        {"main.sls": "a:\n  test.nop: []\n"},
    ],
    "id-in-two-files": [{"one.sls": "a:\n  test.nop: []\n", "two.sls": "b:\n  test.nop: []\n"}],
    "prev-ret-changes": [
        block("x:\n  test.nop:\n    - comment: {{ prev_ret.changes.stdout | default('') | tojson }}\n"),
        block("x:\n  test.nop:\n    - comment: {{ prev_ret.changes.get('a', 'b') | tojson }}\n"),
        block("x:\n  test.nop:\n    - comment: {{ prev_ret.data.stdout | tojson }}\n"),
        block("{% if prev_ret.changes %}\nx:\n  test.nop: []\n{% endif %}\n"),
        block(
            "x:\n  salt.function:\n    - name: {{ prev_ret['changes']['ret']['a'] | tojson }}\n    - tgt: a\n"
        ),
    ],
    "prev-ret-unquoted": [
        block("x:\n  test.nop:\n    - comment: {{ prev_ret.data.ip | tojson }}\n"),
        block('x:\n  test.nop:\n    - comment: "{{ prev_ret.data.ip }}"\n'),
        block("x:\n  test.nop:\n    - comment: |\n        {{ prev_ret.data.ip }}\n"),
        block("{% set ip = prev_ret.data.ip %}\nx:\n  test.nop: []\n"),
    ],
    "delayed-unused": [
        block("x:\n  test.nop: []\n"),
        "{% if false %}\n"
        + CALLER
        + "{% endif %}\n#!delayed_block after\nx:\n  test.nop: []\n#!end_delayed_block\n",
        block("x:\n  test.nop:\n    - name: {{ prev_ret.name | tojson }}\n    - delayed_blocks: [more]\n")
        + "#!delayed_block more\ny:\n  test.nop: []\n#!end_delayed_block\n",
    ],
    "delayed-unknown": [block("x:\n  test.nop: []\n")],
    "delayed-limit-low": [
        f"{CALLER}    - names: [one, two]\n#!delayed_block after delayed_repeat_limit=2\nx:\n  test.nop: []\n"
        "#!end_delayed_block after\n"
    ],
    "delayed-end-unnamed": [block("x:\n  test.nop: []\n")],
    "delayed-draft-spelling": [block("x:\n  test.nop: []\n")],
    "short-form-colon": ["a:\n  test.nop: []\n", "a: test.nop\n"],
    "state-unknown": ["a:\n  pkg.installed: []\n"],
    "argument-unknown": ["/x:\n  file.absent:\n    - name: /y\n"],
    "argument-missing": ["a:\n  alias.present:\n    - target: b\n"],
    "argument-bare": ["a:\n  test.nop:\n    - x: true\n"],
    "argument-suspicious": ["a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop: []\n"],
    "argument-unsupported": ["a:\n  pkg.installed:\n    - pkg_verify: false\n    - skip_suggestions: true\n"],
    "requisite-unknown": ["a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop: []\n"],
    "requisite-matches-nothing": ["a:\n  test.nop:\n    - require:\n      - test: b*\nb:\n  test.nop: []\n"],
    "id-conflict": [
        {
            "top.sls": "base:\n  'one':\n    - a\n  'other':\n    - b\n",
            "a.sls": "x:\n  test.nop: []\n",
            "b.sls": "x:\n  test.nop: []\n",
        }
    ],
    "sls-not-found": [{"main.sls": "include:\n  - other\n", "other.sls": "a:\n  test.nop: []\n"}],
    "template-undefined": ["a:\n  test.nop:\n    - comment: {{ pillar.get('gone', 'x') }}\n"],
    "condition-ignored": ["a:\n  test.nop:\n    - onlyif:\n      - 'true'\n"],
    "exclude-matches-nothing": ["exclude:\n  - id: a\na:\n  test.nop: []\n"],
    "use-unknown": ["a:\n  test.nop:\n    - use:\n      - test: b\nb:\n  test.nop: []\n"],
    "requisite-in-unknown": ["a:\n  test.nop:\n    - require_in:\n      - test: b\nb:\n  test.nop: []\n"],
    "requisite-repeated": [
        "a:\n  test.nop:\n    - require:\n      - b\n    - watch:\n      - b\nb:\n  test.nop: []\n",
        "extend:\n  a:\n    test:\n      - require:\n        - b\na:\n  test.nop:\n    - require:\n"
        "      - c\nb:\n  test.nop: []\nc:\n  test.nop: []\n",
    ],
    "extend-by-argument": [
        {
            "main.sls": "include: [other]\nextend:\n  /etc/x:\n    file:\n      - mode: '0600'\n",
            "other.sls": "conf:\n  file.managed:\n    - name: /etc/x\n    - contents: y\n",
        }
    ],
    "extend-overridden": [
        {
            "main.sls": "include: [one]\nextend:\n  a:\n    test:\n      - comment: x\n",
            "one.sls": "a:\n  test.nop: []\n",
        }
    ],
    "function-too-long": ["a:\n  test.nop: []\n"],
    "name-not-text": ["a:\n  test.nop:\n    - name: '5'\n"],
    "names-empty": ["a:\n  test.nop:\n    - names: [b]\n"],
    "order-unknown": ["a:\n  test.nop:\n    - order: last\n"],
    "top-target": [{"top.sls": TOP, "main.sls": "a:\n  test.nop: []\n"}],
}
