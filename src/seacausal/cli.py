"""The command line: flags over `--config` file over defaults, one dataclass for each command, one function call behind it.

Standard output carries the answer, standard error progress and errors; bad input ends with status 2.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Optional, TypeVar, get_origin, get_type_hints

import tyro

from seacausal.config import DiscoverConfig
from seacausal.errors import DataError, SeaError
from seacausal.report.progress import Progress

if TYPE_CHECKING:
    from seacausal.data import Dataset
    from seacausal.result import CausalGraph

T = TypeVar("T")
Flat = tyro.conf.OmitArgPrefixes

USAGE = """usage: seacausal COMMAND [OPTIONS]      (seacausal COMMAND --help lists the options)

  discover FILE       a causal graph from a table (CSV, TSV, Parquet, .h5ad, .npz, .npy)
  algorithms          the local estimators, statistics and samplers
  score RESULT TRUTH  how good what `discover` wrote is, where the graph is known (a list of edges or .npz)
  demo                discover on the Sachs protein data that come with seacausal
  simulate FILE.npz   a data set with its true graph; --expression: of single cells; --recipe: many, or those of the SEA paper
  sortability FILE    how far variance or R2 gives the causal order away in simulated sets
  train FOLDER        train a network on data simulated on the fly       (extra "train")
  finetune FOLDER     adapt the network to another estimator and statistic (extra "train")
  export CHECKPOINT   turn a training checkpoint into released weights   (extra "train")
  bench SUITE         accuracy and speed: simulated, interventional, large, measured, independent, external, peers, speed, ...

  seacausal --version
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help", "help"):
        sys.stdout.write(USAGE)
        return 0 if given else 2
    if given[0] == "--version":
        from seacausal import __version__

        sys.stdout.write(f"seacausal {__version__}\n")
        return 0
    try:
        if given[0] not in COMMANDS:
            raise DataError(f"The command must be one of {', '.join(COMMANDS)}; found {given[0]!r}. See seacausal --help.")
        COMMANDS[given[0]](given[1:])
    except SeaError as error:
        sys.stderr.write(f"seacausal: {error}\n")
        return 2
    return 0


def parse(kind: Callable[..., T], command: str, arguments: list[str]) -> T:
    """Flags over the TOML file named by `--config` over the defaults of a dataclass.

    Raises
    ------
    DataError
        If the file is missing, is no TOML, or has a key that is no option.
    """
    path, arguments = _take_config(arguments)
    _check_repeated(arguments, kind)
    if path is not None:
        from seacausal.io.toml import read_toml

        positional = [a for a in arguments[:1] if not a.startswith("-")]  # first, because a flag with several values would take it
        arguments = [*positional, *_to_flags(read_toml(path, "configuration"), kind, str(path)), *arguments[len(positional) :]]
    description = f"{cleandoc(kind.__doc__ or '')}\n\n--config FILE.toml holds any of these options; flags win over it."
    return tyro.cli(kind, prog=f"seacausal {command}", args=arguments, description=description, config=(Flat,))


def _check_repeated(arguments: list[str], kind: Any) -> None:
    """Refuse a flag of several values that is given twice: the second would silently take the place of the first."""
    for name, hint in get_type_hints(kind).items():
        flag = f"--{name.replace('_', '-')}"
        if get_origin(hint) is tuple and sum(argument.split("=")[0] == flag for argument in arguments) > 1:
            raise DataError(f"{flag} must be given once; found it several times. Put all names behind one: {flag} a b c.")


def _take_config(arguments: list[str]) -> tuple[Path | None, list[str]]:
    """The file after `--config`, and the arguments without it."""
    if sum(a == "--config" or a.startswith("--config=") for a in arguments) > 1:
        raise DataError("--config must be given once; found it several times. Put all options into one file.")
    for at, argument in enumerate(arguments):
        if argument.startswith("--config="):
            return Path(argument.removeprefix("--config=")), [*arguments[:at], *arguments[at + 1 :]]
        if argument == "--config":
            if at + 1 == len(arguments):
                raise DataError("--config must be followed by a TOML file; found nothing. Name the file.")
            return Path(arguments[at + 1]), [*arguments[:at], *arguments[at + 2 :]]
    return None, arguments


def _to_flags(table: dict[str, Any], kind: Any, label: str) -> list[str]:
    """The keys of a TOML table as flags of a dataclass."""
    known = _options(kind)
    flags: list[str] = []
    for key, value in table.items():
        if key.replace("-", "_") not in known:
            raise DataError(f"Keys of '{label}' must be options; found {key!r}. The options are {', '.join(known)}.")
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value)):
            raise DataError(f"Options in '{label}' must be plain values; found a table for {key!r}. Write {key} = ...")
        listed = list(map(str, value)) if isinstance(value, list) else [str(value)]
        if not listed:
            raise DataError(f"Lists in '{label}' must hold something; found nothing for {key!r}. Leave it out.")
        dashes = [entry for entry in listed if entry.startswith("-")]
        if len(listed) > 1 and dashes:
            raise DataError(f"Entries of longer lists in '{label}' must not begin with a dash; found {dashes[0]!r} for {key!r}. Rename it.")
        dashed = key.replace("_", "-")
        if isinstance(value, bool):
            flags.append(f"--{dashed}" if value else f"--no-{dashed}")
        else:
            flags += [f"--{dashed}={listed[0]}"] if len(listed) == 1 else [f"--{dashed}", *listed]
    return flags


def _options(kind: Any) -> list[str]:
    """Names of the options of a command, those of its `settings` included; `file` is given by position."""
    hints = get_type_hints(kind)
    own = [item.name for item in fields(kind) if item.name not in ("settings", "file")]
    return own + [item.name for item in fields(hints["settings"])] if "settings" in hints else own


@dataclass(frozen=True)
class Discover:
    """Find the causal graph behind a table."""

    file: tyro.conf.Positional[Path]
    """CSV, TSV, Parquet, .h5ad, .npz or .npy file: a row a sample, a column a variable."""
    settings: DiscoverConfig = field(default_factory=DiscoverConfig)
    """How the graph is found."""
    interventions: Optional[str] = None  # noqa: UP045 - tyro checks `str | None` through typeguard, whose import takes 0.05 s
    """Column that names the variables intervened on in each row: empty for none, several split by commas or plus signs."""
    control: tuple[str, ...] = ()
    """What that column says where nothing was intervened on, beside nothing at all: non-targeting, say."""
    other_targets: Literal["error", "drop"] = "error"
    """What to do with rows whose interventions are on what is no column: refuse them, or leave them out."""
    columns: tuple[str, ...] = ()
    """The columns that are variables; all by default."""
    ignore: tuple[str, ...] = ()
    """Columns that are no variables, such as identifiers and dates."""
    missing: Literal["error", "drop", "impute"] = "error"
    """What to do about missing or infinite values: refuse them, leave their rows out, or fill them in from what the other columns say."""
    index: Optional[int] = None  # noqa: UP045
    """Which data set of an .npz file that holds several, from 0."""
    knowledge: Optional[Path] = None  # noqa: UP045
    """TOML file of what is known beforehand: tiers = [["age"], ["dose", "response"]], forbidden = [["dose", "age"]], required = [["dose",
    "response"]]; "*" in a forbidden edge stands for every variable."""
    adapter: Optional[Path] = None  # noqa: UP045
    """An adapter.safetensors of `seacausal finetune`, which changes the network and says which algorithm and statistic to use."""
    out: Path = Path("seacausal-out")
    """Folder for edges.csv, graph.graphml, result.json, graph.html and graph.png."""
    json: bool = False
    """Print machine-readable output alone."""
    top: int = 20
    """How many edges to print, the most probable first."""


@dataclass(frozen=True)
class Score:
    """Compare what `discover` wrote with a graph that is known."""

    file: tyro.conf.Positional[Path]
    """Folder that `discover` wrote, or the edges.csv in it."""
    truth: tyro.conf.Positional[Path]
    """CSV with a header and an edge in each row, cause,effect; or an .npz file with the graph, as of `seacausal simulate`."""
    threshold: float = 0.5
    """Probability above which an edge counts as found."""
    index: int = 0
    """Which data set of an .npz file that holds several, from 0."""
    json: bool = False
    """Print machine-readable output alone."""


@dataclass(frozen=True)
class Demo:
    """Discover on the Sachs protein data: 11 proteins, 7,466 cells, six of them acted on; beside the consensus graph."""

    settings: DiscoverConfig = field(default_factory=DiscoverConfig)
    """How the graph is found."""
    out: Path = Path("seacausal-demo")
    """Folder for edges.csv, graph.graphml, result.json, graph.html and graph.png."""
    json: bool = False
    """Print machine-readable output alone."""
    top: int = 20
    """How many edges to print, the most probable first."""


def run_discover(arguments: list[str]) -> None:
    """`seacausal discover`."""
    options = parse(Discover, "discover", arguments)
    names = ("interventions", "control", "other_targets", "ignore", "missing", "index", "knowledge", "adapter")
    source = {name: getattr(options, name) for name in names}
    source["columns"] = options.columns if options.columns or "--columns" in arguments else None
    _discover_and_save(options.file, source, options)


def run_demo(arguments: list[str]) -> None:
    """`seacausal demo`."""
    from importlib.resources import files

    folder = Path(str(files("seacausal") / "examples"))
    options = parse(Demo, "demo", arguments)
    consensus = [tuple(line.split(",")) for line in (folder / "sachs_consensus.csv").read_text(encoding="utf-8").splitlines()[1:]]
    _discover_and_save(folder / "sachs.csv", {"interventions": "intervention"}, options, consensus)


def _discover_and_save(file: Path, source: dict[str, Any], options: Discover | Demo, consensus: list[tuple[str, ...]] | None = None) -> None:
    from seacausal.discovery import discover
    from seacausal.io.results import prepare_folder
    from seacausal.report.painter import Painter

    if options.top < 0:
        raise DataError(f"--top must not be negative; found {options.top}.")
    prepare_folder(options.out)
    with Painter() as painter, Progress(8, shown=not options.json) as progress:
        graph = discover(file, config=options.settings, progress=progress, **source)
        progress("draw and write")
        started = time.perf_counter()
        reference = None if consensus is None else _to_adjacency(consensus, graph.names)
        paths = graph.save(options.out, reference=reference, painter=painter)
        seconds = graph.seconds | {"draw and write": time.perf_counter() - started}
    if options.json:
        sys.stdout.write(_to_json(graph, paths, seconds))
    else:
        _print_graph(graph, paths, seconds, options.top, consensus)


def _to_adjacency(edges: Sequence[tuple[str, ...]], names: Sequence[str]) -> Any:
    import numpy as np

    adjacency = np.zeros((len(names), len(names)), bool)
    for cause, effect in edges:
        adjacency[names.index(cause), names.index(effect)] = True
    return adjacency


def _to_json(graph: CausalGraph, paths: list[Path], seconds: dict[str, float]) -> str:
    import json

    found = {"edges": [edge._asdict() for edge in graph.edges()], "undecided": [link._asdict() for link in graph.undecided()]}
    return json.dumps({**found, "files": [str(p) for p in paths], "seconds": seconds, **graph.summary()}, ensure_ascii=False, indent=2) + "\n"


def _print_graph(graph: CausalGraph, paths: list[Path], seconds: dict[str, float], top: int, consensus: list[tuple[str, ...]] | None) -> None:
    lines = graph.notes()
    level = graph.config.threshold
    edges, undecided = graph.edges(), graph.undecided()
    shown = edges or ([] if undecided else graph.edges(0.0)[:5])
    if not edges:
        lines.append(f"No edge is more probable than {level}." + " The most probable ones:" * bool(shown))
    known = set(consensus or [])
    rows = [("cause", "effect", "probability", "" if consensus is None else "consensus")]
    for edge in shown[:top]:
        mark = "yes" if edge[:2] in known else "reversed" if edge[1::-1] in known else "no"
        rows.append((edge.cause, edge.effect, f"{edge.probability:.3f}", "" if consensus is None else mark))
    lines += _to_columns(rows) if shown else []
    if len(edges) > top:
        lines.append(f"... and {len(edges) - top} more edges above {level} (--top shows more).")
    if undecided:
        lines.append(f"Joined with a probability above {level}, in a direction that these data leave open:")
        lines += _to_columns([(link.first, link.second, f"{link.probability:.3f}") for link in undecided[:top]])
    if len(undecided) > top:
        lines.append(f"... and {len(undecided) - top} more of these.")
    lines.append("Files: " + ", ".join(str(p) for p in paths))
    spent = ", ".join(f"{stage} {value:.2f}" for stage, value in seconds.items())
    lines.append(f"Seconds: {spent}; in all {sum(seconds.values()):.2f}.")
    sys.stdout.write("\n".join(lines) + "\n")


def run_score(arguments: list[str]) -> None:
    """`seacausal score`."""
    import json

    from seacausal.graph import metrics
    from seacausal.io.results import read_edges
    from seacausal.io.truth import read_truth

    options = parse(Score, "score", arguments)
    if not 0 <= options.threshold < 1:
        raise DataError(f"The threshold (--threshold) must lie between 0 and 1; found {options.threshold}.")
    found = read_edges(options.file / "edges.csv" if options.file.is_dir() else options.file)
    truth = read_truth(options.truth, found.names, index=options.index)
    told = found.direct > options.threshold
    figures = {
        "variables": len(truth),
        "true edges": int(truth.sum()),
        "edges found": int(told.sum()),
        "of these true": int((told & truth).sum()),
        "of these reversed": int((told & truth.T & ~truth).sum()),
        "structural Hamming distance": metrics.score_shd(truth, found.direct, options.threshold),
        "mean average precision": metrics.score_average_precision(truth, found.direct),
        "area under the ROC curve": metrics.score_auc(truth, found.direct),
        "share of true edges rather this way": metrics.score_orientation(truth, found.direct),
        "log-loss, nats a pair": metrics.score_log_loss(truth, found.direct),
        "expected calibration error": metrics.score_calibration(truth, found.direct),
    }
    if options.json:
        finite = {name: None if value != value else value for name, value in figures.items()}
        sys.stdout.write(json.dumps(finite, indent=2) + "\n")
    else:
        rows = [(name, str(value) if isinstance(value, int) else f"{value:.3f}") for name, value in figures.items()]
        sys.stdout.write("\n".join(_to_columns(rows)) + "\n")


def run_simulate(arguments: list[str]) -> None:
    """`seacausal simulate`."""
    from seacausal.simulate.command import run_simulate as run

    run(arguments, parse, _draw_picture)


def _draw_picture(dataset: Dataset, path: Path) -> None:
    from seacausal.io.files import replace_files
    from seacausal.report.plots import render_png
    from seacausal.report.truth import plot_dataset

    picture = render_png(plot_dataset(dataset))
    replace_files(path.parent, {path.name: lambda stream: stream.write(picture)})


def run_algorithms(arguments: list[str]) -> None:
    """`seacausal algorithms`: what can be chosen by `--algorithm` and `--sampler`, and the statistics there are."""
    from seacausal.estimate.algorithms import ALGORITHMS
    from seacausal.estimate.dependence import STATISTICS
    from seacausal.sample.samplers import SAMPLERS

    if arguments:
        raise DataError(f"`seacausal algorithms` takes no options; found {' '.join(arguments)}.")
    tables = (
        [("--algorithm", "output", "interventions", "reference")]
        + [(a.name, a.output, "used" if a.interventions else "", a.reference) for a in ALGORITHMS],
        [("--statistic", "symmetric", "needs", "reference")] + [(s.name, "yes" if s.symmetric else "", s.needs, s.reference) for s in STATISTICS],
        [("--sampler", "needs", "")] + [(s.name, ", ".join(s.needs), s.note) for s in SAMPLERS],
    )
    sys.stdout.write("\n\n".join("\n".join(_to_columns(table)) for table in tables) + "\n")


def _to_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def run_train(arguments: list[str]) -> None:
    """`seacausal train`."""
    from seacausal.train.command import run_train as run

    run(arguments, parse)


def run_finetune(arguments: list[str]) -> None:
    """`seacausal finetune`."""
    from seacausal.train.command import run_finetune as run

    run(arguments, parse)


def run_export(arguments: list[str]) -> None:
    """`seacausal export`."""
    from seacausal.train.command import run_export as run

    run(arguments, parse)


def run_sortability(arguments: list[str]) -> None:
    """`seacausal sortability`."""
    from seacausal.simulate.command import run_sortability as run

    run(arguments, parse)


def run_bench(arguments: list[str]) -> None:
    """`seacausal bench`."""
    from seacausal.bench.command import run_bench as run

    run(arguments, parse)


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "discover": run_discover,
    "algorithms": run_algorithms,
    "score": run_score,
    "demo": run_demo,
    "simulate": run_simulate,
    "sortability": run_sortability,
    "train": run_train,
    "finetune": run_finetune,
    "export": run_export,
    "bench": run_bench,
}
"""Command line word: what runs."""
