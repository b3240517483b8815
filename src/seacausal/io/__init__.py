"""Files and tables in, result files out.

`table` reads every kind of table into a `Dataset`, `npz` reads and writes the archives of simulated and benchmark data, `results` writes what a
run found. The other files hold what these share: `text` (csv and its kin), `cells` (cells to numbers), `names`, `interventions`, `files`.
"""
