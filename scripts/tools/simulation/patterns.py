"""In which cases of an engine a change is."""

from typing import NamedTuple


class Pattern(NamedTuple):
    """A slow-down of an engine's cases with these values of one parameter; without one, of all its cases."""

    percent: float
    engine: str = "mio-level"
    parameter: str = ""
    values: tuple = ()
    shape: str = "default"
    noise: str = "usual"
    engines: int = 6

    def __str__(self):
        what = f"{self.engine} {self.percent:g} %" if self.percent else "nothing"
        where = f" {self.parameter} {'+'.join(map(str, self.values))}" if self.parameter else ""
        few = f", {self.engines} engines" if self.engines < 6 or self.shape == "full on four CPUs" else ""
        return f"{self.shape}: {what}{where}, {self.noise}{few}"

    def speed(self, case):
        """The speed of this case, as a ratio to its old one."""
        concerned = not self.parameter or getattr(case, self.parameter) in self.values
        return 1 - self.percent / 100 if case.engine == self.engine and concerned else 1.0


NOISES = [
    "usual",
    "runs differ by 3 %",
    "heavy tails",
    "runs differ, heavy tails",
    "restless neighbour",
    "long neighbour",
    "drift of 15 %",
    "two levels",
]

PATTERNS = [
    *(Pattern(0, noise=noise) for noise in NOISES),
    *(Pattern(0, noise=noise, shape="full") for noise in NOISES),
    *(Pattern(percent) for percent in [5, 10, 20]),
    Pattern(20, noise="runs differ by 3 %"),
    Pattern(20, parameter="payload", values=(26,)),
    *(Pattern(percent, "std") for percent in [10, 20]),
    *(Pattern(percent, shape="full") for percent in [3, 5, 10]),
    Pattern(10, parameter="threads", values=(2,), shape="full"),
    Pattern(10, parameter="payload", values=(300,), shape="full"),
    Pattern(10, "std", shape="full"),
]

# Where an engine is slower: by how many percent, and in which cases.
PLACES = {
    "nowhere": (0, "", ()),
    "everywhere": (10, "", ()),
    "payload": (10, "payload", (26,)),
    "threads": (10, "threads", (4,)),
}


def few(engines, places, slower):
    """Patterns of sweeps of few engines. The default sweep has one thread count."""
    for count in engines:
        for shape in ["full on four CPUs", "default"]:
            for place in places:
                percent, parameter, values = PLACES[place]
                if (shape, place) != ("default", "threads"):
                    yield Pattern(percent, slower, parameter, values, shape, engines=count)
