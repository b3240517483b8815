"""What a user should know of a run, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seacausal.data import Degenerate


def describe(facts: dict[str, Any], degenerate: Degenerate, algorithm: str | None) -> list[str]:
    """The size of the data, and a line for everything that was done to them or that makes the answer less reliable.

    Parameters
    ----------
    facts
        `CausalGraph.dataset`.
    degenerate
        Columns that carry no information of their own.
    algorithm
        The local estimator.
    """
    acted_on = len(facts["intervened variables"])
    intervened = (
        f", {facts['intervened rows']:,} rows with interventions on {acted_on} variable{'s' * (acted_on != 1)}" if facts["intervened rows"] else ""
    )
    found = [f"{facts['rows']:,} rows, {facts['variables']} variables{intervened}."]
    if facts["dropped rows"]:
        dropped, why = facts["dropped rows"], "without" if facts["imputed cells"] else "with missing or infinite"
        found.append(f"Dropped {dropped:,} row{'s' * (dropped > 1)} {why} values.")
    if facts["foreign targets"]:
        counts = facts["foreign targets"]
        labels = _list([f"{label} ({rows:,})" for label, rows in counts.items()])
        none = " None without interventions are left (--control says which labels mean that)." if facts["intervened rows"] == facts["rows"] else ""
        found.append(f"Left out {sum(counts.values()):,} rows of interventions on what is no column: {labels}.{none}")
    if facts["unlabelled rows"]:
        empty = facts["unlabelled rows"]
        found.append(f"Rows that name neither an intervention nor a control, and count as without: {empty:,}. Leave out those that may have had one.")
    if facts["guides"]:
        guides = _list([f"{label} = {target}" for label, target in facts["guides"].items()])
        found.append(f"Taken for guides of a variable, by what stands before or behind its name: {guides}.")
    if facts["counters"]:
        names = _list([name or "the first column, which has no name" for name in facts["counters"]])
        found.append(f"Left out, for it only numbers, names or dates the rows (--columns keeps numbers that it is given): {names}.")
    if facts["shared"]:
        names = _list([f"{name} ({kinds:,} values)" for name, kinds in facts["shared"].items()])
        found.append(
            f"Rows that share a value of {names} are not independent, though all count: they join columns that have nothing to do with each other. "
            "Give one row of means for each, or take each one's means out of its rows."
        )
    if facts["failure codes"]:
        codes = [f"{name} ({code} in {share:.0%} of the rows)" for name, held in facts["failure codes"].items() for code, share in held.items()]
        found.append(
            f"Numbers far beyond all others of their column, as of measurements that failed: {_list(codes)}. Leave such cells empty, so that they "
            "count as missing."
        )
    if facts["outlying rows"]:
        rows = [f"{row + 1:,}" for row in facts["outlying rows"]]
        found.append(
            f"Rows far off in many columns, which fit no relation between these and were left out (--keep-outliers keeps them): {_list(rows)}."
        )
    rows, worth = facts["rows"] - len(facts["outlying rows"]), facts["independent rows"]
    if facts["imputed cells"]:
        cells, of = facts["imputed cells"], facts["rows"] * facts["variables"]
        found.append(f"Imputed {cells:,} of {of:,} values" + (f", for which {rows:,} rows count as {worth:,}." if worth < rows else "."))
    if facts["repeated rows"]:
        copies = facts["repeated rows"]
        found.append(
            f"{copies:,} of {rows:,} rows repeat others in every column, as where rows were drawn with replacement or written twice, and say nothing "
            f"new: the {rows:,} rows count as {worth:,}."
        )
    if facts["serial"]:
        found.append(
            f"Each row resembles the one before, as in time series: {rows:,} rows count as {worth:,} independent ones (--no-serial counts them all). "
            "Causes that take longer than a row are not looked for; give what grows or wanders as changes."
        )
    if facts["knowledge"]:
        found.append("Known beforehand: " + ", ".join(f"{len(rows)} {key}" for key, rows in facts["knowledge"].items()) + ".")
    for name, levels in facts["categories"].items():
        alike = len({level.casefold() for level in levels}) < len(levels)
        found.append(f"Text, numbered from 0 in this order: {name} ({_list(levels)})" + ("; some differ in case alone." if alike else "."))
    if facts["normal scores"]:
        found.append(f"Heavy tails, replaced by normal scores of their ranks: {_list(facts['normal scores'])}.")
    if facts["cut targets"]:
        found.append(
            f"Set far beyond their other values, which nothing follows so far, and cut at 4 standard deviations: {_list(facts['cut targets'])}."
        )
    if facts["always targets"]:
        found.append(f"Intervened on in every row, so that nothing acts on them: {_list(facts['always targets'])}.")
    if facts["settings"]:
        found.append(f"One value wherever they are not intervened on, so that nothing acts on them: {_list(facts['settings'])}.")
    if facts["offset regimes"]:
        found.append(
            "All columns differ between the interventions, as between batches, so that rows were compared within each of these (--no-offsets "
            "compares all)."
        )
    if facts["unmoved targets"]:
        found.append(f"Intervened on, though neither level nor spread changed there (are the names right?): {_list(facts['unmoved targets'])}.")
    if algorithm != "fci" and not facts["subsets"]["drawn"]:
        found.append(f"No subset of five columns that vary: the algorithm '{algorithm}' had no part in this.")
    if degenerate.constant:
        found.append(f"Constant columns (or varying by less than 1e-10 of their size), left without edges: {_list(degenerate.constant)}.")
    if degenerate.duplicate:
        copies = _list([f"{copy} = {first}" for copy, first in degenerate.duplicate])
        found.append(f"Columns that repeat another: {copies}. Edges near them are unreliable.")
    if degenerate.alike:
        pairs = _list([f"{copy} and {first}" for copy, first in degenerate.alike])
        found.append(f"Columns that are nearly the same: {pairs}. What either does by itself, these data hardly tell; leave one out.")
    for group in degenerate.exclusive:
        found.append(
            f"Never marked in the same row, as kinds of one category: {_list(group)}. That alone joins them; give them as one column of kinds."
        )
    if degenerate.classes:
        pairs = _list([f"{classes} of {column}" for classes, column in degenerate.classes])
        found.append(f"Columns that hold the classes of another: {pairs}. Edges near them are unreliable, their direction above all; leave one out.")
    if degenerate.monotone:
        pairs = _list([f"{function} and {column}" for function, column in degenerate.monotone])
        found.append(f"Columns that rise or fall together in every row: {pairs}. Edges near them are unreliable; leave one out.")
    for kind, columns in ("Linear combinations", degenerate.dependent), ("Products or ratios", degenerate.products):
        if columns:
            named = _list([f"{column} (of {_list(of)})" for column, of in columns])
            found.append(f"{kind} of other columns, or nearly: {named}. Edges near them are unreliable; leave out whichever was computed.")
    return found


def _list(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
