"""Selections and resources that a step cannot work with."""

from __future__ import annotations

from kaireon_dagster.errors import Terminal


class TargetsLeftOut(Terminal):
    """A selection that would use up files which other targets have not loaded."""

    def __init__(self, source: str, missing: tuple[str, ...]) -> None:
        super().__init__(source, missing)
        self.source, self.missing = source, missing

    def __str__(self) -> str:
        return (
            f"source {self.source!r}: its files are moved away when the run is done, and "
            f"{', '.join(self.missing)} would never see them; materialize all its targets "
            "together, or remove config.atomicity so that files stay where they are"
        )


class ChecksAlone(Terminal):
    """Rules that were asked for without the table they guard."""

    def __init__(self, assets: tuple[str, ...]) -> None:
        super().__init__(assets)
        self.assets = assets

    def __str__(self) -> str:
        return (
            f"the rules of {', '.join(self.assets)} are evaluated while rows are loaded; "
            "materialize the asset to evaluate them"
        )


class NotARelation(Terminal):
    """Something else than a relation that was to travel between steps."""

    def __init__(self, step: str, kind: str) -> None:
        super().__init__(step, kind)
        self.step, self.kind = step, kind

    def __str__(self) -> str:
        return (
            f"step {self.step!r} gave a {self.kind}; the checkpoint store keeps relations only, "
            "so give other ops another io_manager_key"
        )


class ProgramFault(Terminal):
    """An error that nobody foresaw: a fault of this package or of the machine."""

    def __init__(self, step: str, kind: str, place: str) -> None:
        super().__init__(step, kind, place)
        self.step, self.kind, self.place = step, kind, place

    def __str__(self) -> str:
        return (
            f"step {self.step!r}: unexpected {self.kind} at {self.place}; its text is not shown, "
            "since it may hold values of rows. Please report this"
        )


class Terminated(Terminal):
    """Somebody ended the run."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step

    def __str__(self) -> str:
        return f"the run was terminated in step {self.step!r}; re-execute it to go on from there"
