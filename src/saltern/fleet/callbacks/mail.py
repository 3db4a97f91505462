"""A notification as an e-mail, handed to the mail server of the configuration."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any, Literal

from msgspec import Struct

from saltern.fleet.callbacks.webhook import SECONDS, NotSent
from saltern.report.text import safe_line

PERMANENT = 500  # from this status on, a mail server's answer is final


class MailServer(Struct, frozen=True, kw_only=True):
    """The mail server, and the sender of the mails."""

    host: str = ""
    port: int = 0
    sender: str = ""
    security: Literal["none", "starttls", "tls"] = "starttls"
    user: str = ""
    password_file: str = ""
    ca: str = ""


def mail_of(body: dict[str, Any], to: str, sender: str) -> EmailMessage:
    """The mail about an occurrence: what happened in its subject, what to look at in its text."""
    message = EmailMessage()
    about = body.get("system") or body.get("gate") or ""
    status = body["event"].partition(".")[2].replace("-", " ")
    where = f" on {about}" if body["event"].startswith("leg.") else f", gate {about}" if about else ""
    message["Subject"] = safe_line(f"saltern: chain {body['chain']}{where}: {status}")[:200]
    message["From"], message["To"] = sender, to
    message["Date"] = formatdate(body["at"])
    message["Message-ID"] = f"<{body['id']}@{sender.rpartition('@')[2].strip('>') or 'saltern'}>"
    message.set_content("".join(f"{line}\n" for line in _lines(body)))
    return message


def _lines(body: dict[str, Any]) -> list[str]:
    shown = [f"run {body['run']} of chain {body['chain']}, version {body['version']}, by {body['author']}"]
    if "status" in body:
        shown.append(f"{body.get('before', '')} → {body['status']}".removeprefix(" → "))
    shown += [str(body["why"])] if body.get("why") else []
    shown += [f"failed: {', '.join(body['actions'])}"] if body.get("actions") else []
    counts = body.get("systems") or {}
    shown += [", ".join(f"{number} {status}" for status, number in sorted(counts.items()))] if counts else []
    command = f"saltern chain show {body['run']}"
    if body["event"] == "gate.open":
        command += f"\nsaltern chain approve {body['run']} '{body['gate']}'"
    return [*(safe_line(line) for line in shown), "", command]


def send_mail(server: MailServer, message: EmailMessage) -> None:
    """Send the mail; raises ``NotSent`` with the reason if the server does not accept it."""
    if not server.host:
        raise NotSent("no mail server is configured: mail.host in controller.yaml")
    try:
        with _open_session(server) as line:
            if server.user:
                line.login(server.user, _password(server.password_file))
            line.send_message(message)
    except smtplib.SMTPRecipientsRefused as problem:
        code, why = next(iter(problem.recipients.values()))
        raise NotSent(f"{code} {why.decode(errors='replace')}", for_good=code >= PERMANENT) from None
    except smtplib.SMTPResponseException as problem:
        said = problem.smtp_error
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise NotSent(f"{problem.smtp_code} {text}") from None
    except (OSError, smtplib.SMTPException, ValueError) as problem:
        raise NotSent(str(problem) or type(problem).__name__) from None


def _open_session(server: MailServer) -> smtplib.SMTP:
    context = ssl.create_default_context(cafile=server.ca or None)
    if server.security == "tls":
        return smtplib.SMTP_SSL(server.host, server.port or 465, timeout=SECONDS, context=context)
    line = smtplib.SMTP(server.host, server.port or 25, timeout=SECONDS)
    try:
        if server.security == "starttls":
            line.starttls(context=context)
    except BaseException:
        line.close()
        raise
    return line


def _password(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
