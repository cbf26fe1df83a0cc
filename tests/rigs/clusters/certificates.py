"""Certificates for tests, made by the openssl command: an authority, and whom it signs."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Certified:
    """Files of one certificate and its key."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    """One that signs. Its files are below `folder`."""

    folder: Path
    name: str = "authority"

    @property
    def certificate(self) -> Path:
        return self.folder / f"{self.name}.pem"

    @classmethod
    def founded(cls, folder: Path, name: str = "authority") -> "Authority":
        folder.mkdir(parents=True, exist_ok=True)
        found = cls(folder, name)
        files = ("-keyout", f"{name}.key", "-out", f"{name}.pem")
        _openssl(folder, "req", "-x509", *_KEY, *files, "-days", "2", "-subj", f"/CN={name}")
        return found

    def signs(self, name: str, names: str = "IP:127.0.0.1", days: int = 2) -> Certified:
        """`names`: alternative names as openssl writes them. A negative number of days: it has
        expired."""
        files = ("-keyout", f"{name}.key", "-out", f"{name}.csr")
        own = ("-subj", f"/CN={name}", "-addext", f"subjectAltName={names}")
        _openssl(self.folder, "req", *_KEY, *files, *own)
        of = ("-CA", f"{self.name}.pem", "-CAkey", f"{self.name}.key", "-CAcreateserial")
        made = ("-in", f"{name}.csr", "-out", f"{name}.pem", "-days", str(days))
        _openssl(self.folder, "x509", "-req", *of, *made, "-copy_extensions", "copy")
        return Certified(self.folder / f"{name}.pem", self.folder / f"{name}.key")


def _openssl(folder: Path, *words: str) -> None:
    done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"openssl {words[0]}: {done.stderr}"
