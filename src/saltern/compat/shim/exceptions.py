"""``salt.exceptions``: the exceptions that modules raise and catch."""

from __future__ import annotations

from typing import Any


class SaltException(Exception):
    def __init__(self, message: object = "") -> None:
        super().__init__(message)
        self.message = str(message)
        self.strerror = self.message


class CommandExecutionError(SaltException):
    """``info`` has further information: a text, a list of texts, or a mapping."""

    def __init__(self, message: object = "", info: Any = None) -> None:
        self.info = info
        self.strerror_without_changes = str(message)
        super().__init__(f"{message}\n\nAdditional info follows:\n\n{info}" if info else message)


class SaltInvocationError(SaltException, TypeError):
    pass


class InvalidKeyError(SaltException, ValueError):
    pass


class TimedProcTimeoutError(SaltException):
    pass


class SaltRenderError(SaltException):
    def __init__(self, message: object = "", line_num: int | None = None, *_: object, **__: object) -> None:
        self.line_num = line_num
        super().__init__(f"{message}; line {line_num}" if line_num else message)


class SaltSystemExit(SystemExit):
    def __init__(self, code: int = 0, msg: str | None = None) -> None:
        super().__init__(msg or code)


def _family(base: type[Exception], names: str) -> dict[str, type[Exception]]:
    return {name: type(name, (base,), {"__module__": __name__}) for name in names.split()}


globals().update(
    _family(
        SaltException,
        "AuthenticationError AuthorizationError CommandNotFoundError FileLockError FileserverConfigError "
        "GitLockError GitRemoteError LoaderError MinionError NotImplemented PkgParseError PublishError "
        "SaltCacheError SaltClientError SaltClientTimeout SaltCloudException SaltConfigurationError "
        "SaltDaemonNotRunning SaltDeserializationError SaltMasterError SaltReqTimeoutError SaltRunnerError "
        "SaltValidationError SaltWheelError TemplateError TimeoutError UnsupportedAlgorithm",
    )
)
globals().update(
    _family(
        CommandExecutionError,
        "ArgumentValueError CheckError CodePageError InvalidConfigError InvalidEntityError VMwareSaltError",
    )
)


def get_error_message(error: Exception) -> str:
    return str(error.args[0]) if error.args else ""
