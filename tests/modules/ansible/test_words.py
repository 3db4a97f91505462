"""Every word of Ansible, as it comes out of one real playbook on two hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.ansible.plays import Plays

from saltern.language.result import Outcome, Result, SubResult

PLAYBOOK = """
- name: every word
  hosts: all
  gather_facts: false
  tasks:
    - name: fine
      ansible.builtin.debug: {msg: "hello {{ inventory_hostname }}"}
    - name: write
      ansible.builtin.copy: {content: "one\\n", dest: "{{ scratch }}/{{ inventory_hostname }}"}
      notify: told
    - name: loop
      ansible.builtin.command: "test {{ item }} != b"
      loop: [a, b]
      ignore_errors: true
    - name: skipped
      ansible.builtin.debug: {msg: never}
      when: inventory_hostname == "nobody"
    - name: ignored
      ansible.builtin.shell: "echo why not >&2; exit 3"
      ignore_errors: true
    - block:
        - name: breaks
          ansible.builtin.command: "false"
      rescue:
        - name: mends
          ansible.builtin.debug: {msg: mended}
      always:
        - name: always
          ansible.builtin.debug: {msg: always}
    - name: secret
      ansible.builtin.command: "echo hunter2 {{ item }}"
      loop: [hunter2]
      no_log: true
    - name: one secret
      ansible.builtin.command: "echo hunter2"
      no_log: true
    - name: twice
      ansible.builtin.debug: {msg: first}
    - name: twice
      ansible.builtin.debug: {msg: second}
    - name: tries
      ansible.builtin.command: "false"
      register: answer
      until: answer.rc == 0
      retries: 2
      delay: 0
      ignore_errors: true
    - name: dies
      ansible.builtin.command: "false"
      when: inventory_hostname == "b"
    - name: never reached
      ansible.builtin.debug: {msg: x}
    - name: rarely asked for
      ansible.builtin.debug: {msg: x}
      tags: [never]
  handlers:
    - name: told
      ansible.builtin.debug: {msg: handled}
- name: nobody there
  hosts: nowhere
  tasks: []
- name: the second play
  hosts: a
  gather_facts: false
  tasks:
    - name: goes on
      ansible.builtin.debug: {msg: on}
"""


class Ran:
    def __init__(self, result: Result, plays: Plays) -> None:
        self.result = result
        self.told = plays.told
        self.log = Path(str(result.data["log"])).read_text()

    def __getitem__(self, id_: str) -> SubResult:
        return next(step for step in self.told if step.id == id_)


@pytest.fixture(scope="module")
def ran(shared: Plays) -> Ran:
    return Ran(shared.run(PLAYBOOK, inventory=["a,b,"]), shared)


def test_a_failed_host_fails_the_state_which_says_where_the_log_is(ran: Ran) -> None:
    assert ran.result.outcome is Outcome.FAILED
    assert "ended with exit code 2 (a host failed)" in ran.result.comment
    assert "failed: b: dies" in ran.result.comment
    assert str(ran.result.data["log"]) in ran.result.comment


def test_ok_is_true_with_the_message_for_a_comment(ran: Ran) -> None:
    step = ran["a: fine"]
    assert (step.outcome, step.ran, step.changes, step.comment) == (Outcome.OK, True, {}, "hello a")
    assert (step.state, step.fun, step.timed) == ("ansible", "debug", True)
    assert step.data["host"] == "a"
    assert step.data["task"] == "fine"
    assert str(step.data["path"]).endswith("play.yml:6")


def test_changed_is_true_with_its_diff(ran: Ran) -> None:
    step = ran["b: write"]
    assert step.outcome is Outcome.OK
    assert "+one" in str(step.changes["diff"])


def test_items_of_a_loop_are_one_level_deeper(ran: Ran) -> None:
    step = ran["a: loop"]
    assert [(item.name, item.outcome, item.data["word"]) for item in step.sub] == [
        ("a", Outcome.OK, "changed"),
        ("b", Outcome.OK, "failed"),
    ]
    assert step.sub[1].comment.startswith("failed, but ignored: ")
    assert step.sub[0].id == "a: loop (a)"


def test_skipped_is_true_and_did_not_run(ran: Ran) -> None:
    step = ran["a: skipped"]
    assert (step.outcome, step.ran) == (Outcome.OK, False)
    assert 'inventory_hostname == "nobody"' in step.comment


def test_ignored_and_rescued_failures_are_true_with_a_note(ran: Ran) -> None:
    assert ran["a: ignored"].outcome is Outcome.OK
    assert ran["a: ignored"].comment == "failed, but ignored: non-zero return code\nwhy not"
    assert ran["a: breaks"].outcome is Outcome.OK
    assert ran["a: breaks"].comment.startswith("failed, but rescued: ")
    assert ran["a: mends"].comment == "mended"
    assert ran["a: always"].outcome is Outcome.OK


def test_what_no_log_hides_stays_hidden(ran: Ran) -> None:
    assert "hunter2" not in repr(ran.told)
    assert "hunter2" not in repr(ran.result)
    assert "hunter2" not in ran.log
    step = ran["a: secret"]
    assert "no_log" in step.comment
    assert "no_log" in step.sub[0].name
    assert step.changes == {"changed": True}


def test_two_tasks_of_one_name_keep_both_results(ran: Ran) -> None:
    both = [step.comment for step in ran.told if step.id == "a: twice"]
    assert both == ["first", "second"]


def test_retries_are_reported(ran: Ran) -> None:
    assert ran["a: tries"].comment.endswith("(after 2 attempts)")


def test_handlers_are_reported_like_tasks(ran: Ran) -> None:
    step = ran["a: told"]
    assert (step.comment, step.data["handler"]) == ("handled", True)


def test_what_a_lost_host_did_not_come_to_is_not_reached(ran: Ran) -> None:
    step = ran["b: never reached"]
    assert (step.outcome, step.ran) == (Outcome.FAILED, False)
    assert step.comment == "not reached: b failed before"
    assert ran["a: never reached"].ran
    assert not [one for one in ran.told if "rarely" in one.id]


def test_a_play_without_hosts_is_skipped_and_the_next_one_goes_on(ran: Ran) -> None:
    step = ran["play: nobody there"]
    assert (step.outcome, step.ran, step.comment) == (Outcome.OK, False, "no hosts matched")
    assert ran["a: goes on"].outcome is Outcome.OK


def test_data_has_totals_and_the_statistics_of_each_host(ran: Ran) -> None:
    totals = ran.result.data["totals"]
    assert isinstance(totals, dict)
    assert totals["failed"] == 1
    assert totals["not_reached"] == 1
    hosts = ran.result.data["hosts"]
    assert isinstance(hosts, dict)
    assert (hosts["b"]["failures"], hosts["a"]["failures"], hosts["a"]["rescued"]) == (1, 0, 1)
    assert ran.result.data["retcode"] == 2


def test_the_log_is_what_ansible_prints_and_has_no_events(ran: Ran) -> None:
    assert "PLAY RECAP" in ran.log
    assert "\x1e" not in ran.log
    assert '"event"' not in ran.log
