"""No password of an address is shown, whatever is in it; and what is no password stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.compat.shim.utils.url import redact_http_basic_auth
from saltern.language.mask import MASK, mask
from saltern.modules.lib.web import split_login

# All of ASCII that can stand in an address without ending it; @ : / and quotes more often than they would be.
SIGNS = st.one_of(st.sampled_from("@:/?#'\"%[]&,;"), st.characters(min_codepoint=33, max_codepoint=126))
PASSWORDS = st.text(SIGNS, min_size=3)
SCHEMES = st.sampled_from(["http", "https", "HTTPS", "ftp", "git+ssh", "postgres"])
USERS = st.sampled_from(["joe", "joe.doe", "", "joe%40corp"])
TEXTS = st.sampled_from(["{}", "cannot fetch {}: refused", "'{}' failed", "see {} and joe-mail", "({})"])


@given(PASSWORDS, SCHEMES, USERS, TEXTS)
def test_no_password_is_left_after_masking(password: str, scheme: str, user: str, text: str) -> None:
    secret = f"Zq{password}qZ"
    shown = mask(text.format(f"{scheme}://{user}:{secret}@example.org/a?b=c"))
    assert "Zq" not in shown
    assert "qZ" not in shown
    assert shown == text.format(f"{scheme}://{user}:{MASK}@example.org/a?b=c")


@given(PASSWORDS.filter(lambda word: not re.match(r"\d+[/?#]", word)))
def test_no_part_of_a_password_is_left_wherever_it_stands(password: str) -> None:
    shown = mask({"https://joe:" + password + "@h/": [f"https://joe:{password}@h/", ("x", 1)]})
    assert shown == {f"https://joe:{MASK}@h/": [f"https://joe:{MASK}@h/", ("x", 1)]}


@given(st.text(SIGNS.filter(lambda sign: sign not in "/?#"), min_size=3))
def test_a_user_with_an_at_sign_does_not_uncover_the_password(password: str) -> None:
    secret = f"Zq{password}qZ"
    shown = mask(f"https://joe@corp:{secret}@example.org/a")
    assert "Zq" not in shown
    assert "qZ" not in shown


@given(st.text(SIGNS.filter(lambda sign: sign not in ":/?#"), min_size=3))
def test_no_token_is_left_after_masking(token: str) -> None:
    shown = mask(f"cannot fetch https://Zq{token}qZ@example.org/a: refused")
    assert shown == f"cannot fetch https://{MASK}@example.org/a: refused"


@given(PASSWORDS)
def test_what_salt_modules_redact_has_no_password_either(password: str) -> None:
    assert redact_http_basic_auth(f"https://joe:Zq{password}qZ@h/x") == "https://<redacted>@h/x"


@given(st.text(SIGNS, min_size=1), st.text(SIGNS))
def test_secrets_that_are_named_are_masked(secret: str, around: str) -> None:
    shown = mask([f"{around} {secret} {around}"], [secret, None, ""])
    assert f" {secret} " not in shown[0]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org:8080/a@b",
        "http://example.org/?q=a:b@c",
        "ssh://git@example.org/x",
        "git+ssh://git@example.org:group/project.git@v1.2",
        "http://[::1]:8080/a and joe@example.org",
        "a:b@c",
        "",
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    assert mask(text) == text


def test_a_login_is_split_off_and_a_token_is_masked() -> None:
    assert split_login("https://t0ken@example.org/x")[0] == "https://example.org/x"
    assert mask("https://t0ken@example.org/x") == f"https://{MASK}@example.org/x"
