"""One guardian a project, from before its first process until after its last."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.deploy.port import DeployError
from harness.run.guardian import Guardian, GuardianError, Kind, start_guardian


@dataclass(slots=True)
class Guards:
    """The guardians of an experiment; `keep`: the clusters stay when it is over."""

    folder: Path
    keep: bool
    standing: list[Guardian] = field(default_factory=list)
    project: str = ""  # the last one
    kind: Kind = Kind.COMPOSE  # of that
    external: list[str] = field(default_factory=list)  # all of that kind

    def begin(self, kind: Kind, project: str) -> None:
        """Raises DeployError: without a guardian nothing is started."""
        self.project, self.kind = project, kind
        self.external += [project] if kind is Kind.EXTERNAL else []
        try:
            self.standing.append(start_guardian(project, self.folder, self.keep, kind))
        except GuardianError as failure:
            raise DeployError(f"no guardian, so nothing is started: {failure}") from failure

    def end(self, tell: Callable[[str], None]) -> None:
        for guardian in self.standing:
            try:
                guardian.done()
            except GuardianError as failure:
                tell(f"the guardian did not end well: {failure}; try: mqproof heal")
        if self.keep and self.project:
            tell(f"kept standing; to remove it: {self._removal()}")

    def _removal(self) -> str:
        if self.kind is Kind.LOCAL:
            return f"{sys.executable} -m harness.run.local_projects {self.project}"
        file = self.folder / "deployments" / self.project / "compose.yaml"
        return f"docker compose -p {self.project} -f {file} down -v"
