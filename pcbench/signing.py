"""Signatures over manifests: HMAC-SHA256 with a key of the user's, or with one that a fleet shares. Needs no torch.

The key is the text in the file that ``PCBENCH_KEYFILE`` names, so that a build server can sign for those who load; else
in ``pcbench/key`` in the user's data folder (``$XDG_DATA_HOME``, or ``~/.local/share``), made when something is signed
for the first time. Who has the key can sign; who signs can run code wherever the signature is trusted.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from typing import IO

from pcbench.data_folder import data_folder
from pcbench.errors import ArtifactError, PcbenchError

KEYFILE = "PCBENCH_KEYFILE"
_BYTES = 32
_SIGNATURE = re.compile(rb"hmac-sha256 ([0-9a-f]{12}) ([0-9a-f]{64})\n?")
_LARGEST = 4096


def sign(text: bytes) -> str:
    """The signature of ``text``: what it is made by, which key made it, and the digest.

    Raises:
        PcbenchError: There is no key that can be used, or none can be made.
    """
    key = _key(make=True)
    return f"hmac-sha256 {_name(key)} {_digest(key, text)}\n"


def verify(text: bytes, signature: bytes, whose: Path) -> None:
    """Check that ``signature`` is of ``text``, by this user's key.

    Raises:
        ArtifactError: It is not; ``whose`` is what was signed.
        PcbenchError: The key cannot be used.
    """
    words = _SIGNATURE.fullmatch(signature)
    if words is None:
        raise ArtifactError(f"the signature of {whose} is damaged", hint="save it again", layer="signature")
    try:
        key = _key(make=False)
    except FileNotFoundError as error:
        raise ArtifactError(
            f"whether {whose} is signed cannot be told: this user has no key",
            hint=f"set {KEYFILE} to the key of who saved it, or trust it: loading runs its code",
            layer="signature",
        ) from error
    signer, digest = (word.decode() for word in words.groups())
    if not hmac.compare_digest(signer, _name(key)):
        raise ArtifactError(
            f"{whose} was signed with the key {signer}, this user has {_name(key)}",
            hint=f"set {KEYFILE} to the key of who saved it, or trust it: loading runs its code",
            layer="signature",
        )
    if not hmac.compare_digest(digest, _digest(key, text)):
        raise ArtifactError(f"{whose} was changed after it was signed", hint="save it again", layer="signature")


def path() -> Path:
    """Where the key is, or will be.

    Raises:
        PcbenchError: There is no place for it.
    """
    named = os.environ.get(KEYFILE)
    if named:
        if not Path(named).is_absolute():  # each process that pcbench starts has a folder of its own
            raise PcbenchError(f"{KEYFILE} is {named}, which is no whole path", hint="begin it with /")
        return Path(named)
    return data_folder() / "key"


def _key(*, make: bool) -> bytes:
    where = path()
    try:
        return _read(where)
    except FileNotFoundError:
        if os.environ.get(KEYFILE):
            raise PcbenchError(
                f"{KEYFILE} names {where}, and there is no such file",
                hint=f"make one with: (umask 077; openssl rand -hex {_BYTES} > {where})",
            ) from None
        if not make:
            raise
    try:
        _make(where)
    except OSError as error:
        raise PcbenchError(
            f"a key to sign with could not be made in {where}: {error.strerror}", hint=f"name another in {KEYFILE}"
        ) from error
    return _read(where)


def _read(where: Path) -> bytes:
    try:
        # A pipe that nobody writes to would be waited for.
        with os.fdopen(os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise PcbenchError(f"the key {where} is no regular file")
            if state.st_uid not in (0, os.geteuid()):
                raise PcbenchError(f"the key {where} belongs to another user, with the id {state.st_uid}")
            if state.st_mode & (stat.S_IWGRP | stat.S_IRWXO):
                raise PcbenchError(
                    f"the key {where} can be read or written by others", hint=f"chmod 600 {where}, or 640 for a group"
                )
            text = file.read(_LARGEST).strip()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PcbenchError(f"the key {where} cannot be read: {error.strerror}") from error
    if len(text) < _BYTES:
        raise PcbenchError(
            f"the key {where} has {len(text)} bytes, and {_BYTES} are the least",
            hint="remove it for a new one; what was signed with it must be saved again",
        )
    return text


def _make(where: Path) -> None:
    """Write a new key, whole or not at all; one that another process made meanwhile stays.

    Who holds the lock on the file beside it may write it, and rename it; what one that was killed left of it is used.
    """
    where.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = where.with_name(f"{where.name}.new")
    while not where.exists():
        made = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(made, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is(file, aside):  # another process, that had the lock before, made it the key
                continue
            if where.exists():  # so did another, before this one opened what is then nobody's
                aside.unlink()
                return
            file.truncate(0)
            file.write(secrets.token_hex(_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
            aside.rename(where)


def _is(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _name(key: bytes) -> str:
    return hashlib.sha256(b"pcbench key name\n" + key).hexdigest()[:12]


def _digest(key: bytes, text: bytes) -> str:
    return hmac.new(key, b"pcbench manifest\n" + text, hashlib.sha256).hexdigest()
