"""In which cases of an engine a change is."""

from typing import NamedTuple

SLOWED = "mio-level"


class Pattern(NamedTuple):
    """A slow-down of the engine's cases with these values of one parameter; without one, of all its cases."""

    percent: float
    parameter: str = ""
    values: tuple = ()

    def __str__(self):
        if not self.percent:
            return "nothing"
        where = f"{self.parameter} {'+'.join(map(str, self.values))}" if self.parameter else "everywhere"
        return f"{self.percent:g} % {where}"

    @property
    def parts(self):
        """The names that `compare` has for them; none, if all of the engine is slower."""
        values = " and ".join(map(str, self.values))
        places = {
            "threads": f"at {values} thread{'s' * (self.values != (1,))}",
            "payload": f"at {values} B",
            "connection": f"on {values} sockets",
            "ip": f"over {values}",
        }
        return {places[self.parameter]} if self.parameter else set()

    def speed(self, case):
        """The speed of this case, as a ratio to its old one."""
        concerned = not self.parameter or getattr(case, self.parameter) in self.values
        return 1 - self.percent / 100 if case.engine == SLOWED and concerned else 1.0


PATTERNS = [
    Pattern(0),
    Pattern(1.8),
    Pattern(3),
    Pattern(5),
    Pattern(10, "threads", (1,)),
    Pattern(10, "threads", (2, 4)),
    Pattern(5, "threads", (2, 4)),
    Pattern(10, "threads", (4,)),
    Pattern(10, "payload", (300,)),
    Pattern(10, "connection", ("unconnected",)),
    Pattern(10, "ip", ("v6",)),
]
