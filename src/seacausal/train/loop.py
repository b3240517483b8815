"""The training loop: data parallel over single-threaded worker processes, resumable to the bit.

Every worker simulates its own share of the minibatch, some steps ahead, gradients are averaged, and every worker takes the same step, so nothing but
gradients is exchanged. The state after step s depends on the configuration and s alone, whatever stops lay between. Under torchrun its processes are
the workers.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.multiprocessing.spawn import ProcessRaisedException, spawn

from seacausal.aggregate.axial import PaperConfig
from seacausal.aggregate.model import ModelConfig
from seacausal.errors import CheckpointError, DataError, TrainingError
from seacausal.simulate.domain import SIZES, Domain, Size
from seacausal.train.checkpoint import flatten_optimizer, read_checkpoint, restore_optimizer, write_checkpoint
from seacausal.train.journal import Journal
from seacausal.train.minibatch import draw_minibatch
from seacausal.train.presets import Preset, choose_preset, load_preset
from seacausal.train.validation import Validation, pair_loss

AHEAD = 4
"""Minibatches that one of several workers draws beforehand, in a thread that has the processor whenever it waits for the others."""


@dataclass(frozen=True)
class TrainConfig:
    """One training run."""

    steps: int = 30_000
    """Optimiser steps in all."""
    minutes: float = 0.0
    """Wall time that ends the run before its steps do, 0 for none. What such a run has learned depends on the machine."""
    learning_rate: float = 2e-3
    """AdamW learning rate after warm-up."""
    warmup: int = 100
    """Steps of linear warm-up."""
    decay: float = 0.2
    """Last share of the steps, or of the minutes, over which the learning rate falls linearly to zero."""
    weight_decay: float = 1e-2
    """AdamW weight decay."""
    ema: float = 0.999
    """Decay of the moving average of the weights, which is what is released."""
    seed: int = 0
    """Seed of initial weights and data."""
    workers: int = 2
    """Processes, one thread each."""
    every: int = 100
    """Steps between log lines."""
    save_every: int = 1000
    """Steps between checkpoints."""
    validate_every: int = 0
    """Steps between validations, 0 for none."""
    validation: int = 20
    """Minibatches of the fixed data sets that are scored then."""
    patience: int = 0
    """Stop after so many validations in a row without a better mAP; 0 never stops early."""
    preset: str = "base"
    """Which network: "base", or "paper", the paper's."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """Sizes of the network "base"."""
    paper: PaperConfig = field(default_factory=PaperConfig)
    """Sizes of the network "paper"."""
    algorithm: str = "fci"
    """The algorithm whose marks "paper" reads."""
    statistic: str = "inverse-covariance"
    """The statistic that "paper" reads."""
    domain: Domain = field(default_factory=Domain)
    """What the data sets are drawn from."""
    sizes: tuple[Size, ...] = SIZES
    """How wide they are."""
    dropped: float = 1.0
    """How often groups of channels of `base` are switched off, over `presets.DROPPED`."""
    uses: int = 1
    """How often a data set is shown on average; each time other groups of channels are switched off, or other embeddings drawn."""


def train(
    config: TrainConfig, folder: Path, *, preset: Preset | None = None, resume: bool = False, until: int | None = None, device: str = "cpu"
) -> Path:
    """Train in `folder`; returns the checkpoint `last.safetensors`. Beside it `best.safetensors`, of the best validation, and the files of `Journal`.

    Parameters
    ----------
    preset
        What is trained, by default the network that `config` names.
    resume
        Go on from `last.safetensors`; the schedule of `config` may be longer than before.
    until
        Stop after this step, as if interrupted.
    device
        Where the network runs, as torch names it. Data sets are simulated by the processor.

    Raises
    ------
    DataError
        If `folder` already holds a run and `resume` is not set, `uses` is below 1, or there is no such device.
    CheckpointError
        If there is nothing to resume, or it is a run of something else.
    TrainingError
        If the loss is no number any more; the minibatch is kept in `failed.npz`.
    """
    _check_device(device)
    if config.uses < 1:
        raise DataError(f"`uses` must be at least 1; found {config.uses}. Correct the recipe.")
    preset = preset or choose_preset(config)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "last.safetensors"
    if path.exists() and not resume:
        raise DataError(f"'{folder}' must not hold a run already; found {path.name}. Pass --resume to go on, or another folder.")
    if resume and not path.exists():
        raise CheckpointError(f"'{folder}' must hold a run to resume; found no {path.name}. Leave --resume out to start one.")
    if under_torchrun():
        rank, workers = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        local = f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" else device
        _work(rank, replace(config, workers=workers), preset, path, until, "env://", local)
        return path
    with tempfile.TemporaryDirectory() as store:
        if config.workers == 1:
            try:
                _work(0, config, preset, path, until, None, device)
            finally:
                torch.set_flush_denormal(False)  # this process goes on to other things
        else:
            try:
                spawn(_work_and_leave, (config, preset, path, until, f"file://{store}/store", device), nprocs=config.workers)
            except ProcessRaisedException as error:
                raise _error_of_worker(error) from None
    return path


def _error_of_worker(error: ProcessRaisedException) -> Exception:
    """What a worker raised on purpose, read from the last line of its traceback; else the error as it is."""
    kind, _, message = str(error).strip().splitlines()[-1].partition(": ")
    known = {f"{one.__module__}.{one.__name__}": one for one in (CheckpointError, TrainingError)}
    return known[kind](message) if kind in known else error


def _check_device(device: str) -> None:
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"`device` must be one that torch can use; found {device!r} ({reason}). Leave it out for the processor.") from None


def _work(rank: int, config: TrainConfig, preset: Preset, path: Path, until: int | None, store: str | None, device: str) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    if store:
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=config.workers)
    run = _Run(rank, config, preset, path, device)
    last = min(config.steps, until if until is not None else config.steps)
    while run.step < last and not run.stopped:
        run.advance()
        if run.step % config.every == 0 or run.step == last or run.late:
            run.log()
        if config.validate_every and run.step % config.validate_every == 0:
            run.validate()
        if run.step % config.save_every == 0 or run.step == last or run.stopped:
            run.save(path)
    run.ahead.shutdown(cancel_futures=True)
    if rank == 0:
        run.journal.draw()
    if store:
        dist.destroy_process_group()


def _work_and_leave(*given: Any) -> None:
    """`_work` in a process of its own, which ends when the one that started it does."""
    parent = parent_process()
    assert parent is not None
    # torch only interrupts it then, which a process begun in the background ignores; it would go on writing beside the run that resumes it.
    Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    _work(*given)
    leave()


def leave() -> None:
    """End one of several processes without taking its interpreter down: some library's thread aborts one in hundreds there, when all is done."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def under_torchrun() -> bool:
    """Whether this process is one of several that torchrun has started."""
    return "TORCHELASTIC_RUN_ID" in os.environ


class _Run:
    """The state of one worker; all of it but the rank is the same in every worker."""

    def __init__(self, rank: int, config: TrainConfig, preset: Preset, path: Path, device: str) -> None:
        self.rank, self.config, self.preset, self.path, self.device = rank, config, preset, path, device
        torch.manual_seed(config.seed)
        self.model = preset.build().to(device)
        fresh = partial(draw_minibatch, config.seed, sizes=config.sizes, domain=config.domain, preset=preset)
        self.draw = partial(fresh, uses=config.uses, memory={})
        self.ahead = ThreadPoolExecutor(1, initializer=torch.set_flush_denormal, initargs=(True,))  # a thread has a setting of its own
        self.coming: deque[Future] = deque()
        self.parameters = {name: value for name, value in self.model.named_parameters() if value.requires_grad}
        self.optimizer = torch.optim.AdamW(self.parameters.values(), lr=config.learning_rate, weight_decay=config.weight_decay, betas=(0.9, 0.98))
        self.average = {name: value.detach().clone() for name, value in self.parameters.items()}
        self.step, self.examples, self.best, self.waited, seconds = 0, 0, -1.0, 0, 0.0
        self.journal = Journal(path.parent, config.steps, 60 * config.minutes)
        if path.exists():
            seconds = self._restore(path)
            if rank == 0:
                self.journal.resume(self.step)
        self.started, self.spent = time.perf_counter() - seconds, seconds
        self.losses: list[Tensor] = []
        self.validation = None
        if config.validate_every:
            self.validation = Validation(fresh, config.validation, rank, config.workers)

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return 0 < 60 * self.config.minutes <= self.spent

    @property
    def stopped(self) -> bool:
        """Whether the time is up, or validations have long not become better."""
        return self.late or 0 < self.config.patience <= self.waited

    def advance(self) -> None:
        """One step of the optimiser."""
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * _schedule(self.step, self.spent, config)
        inputs, classes = self.coming.popleft().result() if self.coming else self.draw(self.step, self.rank, config.workers)
        if config.workers > 1:
            while len(self.coming) < AHEAD:
                self.coming.append(self.ahead.submit(self.draw, self.step + len(self.coming) + 1, self.rank, config.workers))
        torch.manual_seed(int(np.random.SeedSequence([config.seed, self.step, self.rank]).generate_state(1)[0]))  # of dropout
        loss = pair_loss(self.model(**{name: value.to(self.device) for name, value in inputs.items()}), classes.to(self.device))
        if not torch.isfinite(loss):
            failed = self.path.with_name("failed.npz")
            arrays: dict[str, Any] = {name: value.numpy() for name, value in inputs.items()}
            np.savez_compressed(failed, **arrays, classes=classes.numpy(), step=self.step, worker=self.rank)
            raise TrainingError(
                f"The loss must stay finite; found {loss.item()} at step {self.step}, worker {self.rank}. "
                f"The minibatch is kept in '{failed}'; lower the learning rate."
            )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.losses.append(self._average_gradients(loss.detach()))
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), 1.0)
        self.optimizer.step()
        self.step += 1
        self.examples += len(classes) * config.workers
        decay = min(config.ema, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, value in self.parameters.items():
                self.average[name].lerp_(value, 1 - decay)

    def log(self) -> None:
        """The mean loss since the last time, over all workers."""
        if self.rank == 0:
            self.journal.write_step(self.step, time.perf_counter() - self.started, self.examples, float(torch.stack(self.losses).mean()))
        self.losses.clear()

    def validate(self) -> None:
        """Scores the averaged weights, and keeps the checkpoint if they were never better."""
        assert self.validation is not None
        total = self.validation.score(self.model, self.average)
        if self.config.workers > 1:
            dist.all_reduce(total)
        loss, score = float(total[0] / total[1]), float(total[2] / total[3].clamp(min=1))
        self.waited = 0 if score > self.best else self.waited + 1
        self.best = max(self.best, score)
        if self.rank == 0:
            self.journal.write_validation(self.step, loss, score)
        if self.waited == 0:
            self.save(self.path.with_name("best.safetensors"))

    def save(self, path: Path) -> None:
        """A checkpoint, by the first worker."""
        if self.rank == 0:
            header = {"step": self.step, "examples": self.examples, "seconds": time.perf_counter() - self.started, "config": asdict(self.config)}
            header |= {"task": self.preset.facts, "best": self.best, "waited": self.waited}
            tensors = {f"model.{k}": v for k, v in self.parameters.items()} | {f"average.{k}": v for k, v in self.average.items()}
            write_checkpoint(path, tensors | flatten_optimizer(self.optimizer), header)

    def _average_gradients(self, loss: Tensor) -> Tensor:
        """Leaves the mean gradient of all workers in the parameters, and the seconds spent in `spent`; returns the mean loss."""
        spent = time.perf_counter() - self.started
        if self.config.workers == 1:
            self.spent = spent
            return loss
        parameters = self.parameters.values()
        gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
        flat = torch.cat([*(g.reshape(-1) for g in gradients), loss.reshape(1), loss.new_tensor([spent])]) / self.config.workers
        dist.all_reduce(flat)
        at = 0
        for parameter in parameters:
            parameter.grad = flat[at : at + parameter.numel()].view_as(parameter)
            at += parameter.numel()
        self.spent = float(flat[-1])  # the same for all, so that they stop together
        return flat[-2]

    def _restore(self, path: Path) -> float:
        """Takes up the state of a checkpoint; returns the seconds it took."""
        tensors, header = read_checkpoint(path)
        found, wanted = load_preset(header).settings(), self.preset.settings()
        if found != wanted:
            raise CheckpointError(f"'{path}' must have the sizes {wanted}; found {found}. Resume with the recipe it was started with.")
        if header.get("task", {}) != self.preset.facts:
            made = header.get("task") or "seacausal train"
            raise CheckpointError(f"'{path}' must be a run of {self.preset.facts or 'seacausal train'}; found {made}. Resume it as such.")
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(tensors[f"model.{name}"])
                self.average[name].copy_(tensors[f"average.{name}"])
        restore_optimizer(self.optimizer, tensors)
        self.step, self.examples = header["step"], header["examples"]
        self.best, self.waited = header.get("best", -1.0), header.get("waited", 0)
        return header["seconds"]


def _schedule(step: int, seconds: float, config: TrainConfig) -> float:
    """Share of the learning rate."""
    left = (config.steps - step) / max(1.0, config.decay * config.steps)
    if config.minutes:
        left = min(left, max(0.0, (60 * config.minutes - seconds) / max(1.0, 60 * config.decay * config.minutes)))
    return min(1.0, (step + 1) / config.warmup, left)
