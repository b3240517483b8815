"""Every error that seacausal raises on purpose.

A message says what must hold, what was found and where, and what to do. The command line turns any `SeaError` into that message and exit status 2.
"""


class SeaError(Exception):
    """Base of all errors raised on purpose."""


class DataError(SeaError, ValueError):
    """The data, or an option, is not what the method needs."""


class CheckpointError(SeaError):
    """A checkpoint or weights file is damaged or of another kind."""


class TrainingError(SeaError):
    """A training run that cannot go on."""
