"""The training loop: data parallel over single-threaded worker processes, resumable to the bit.

Every worker simulates its own share of the minibatch, gradients are averaged, and every worker takes the same step, so nothing but gradients is
exchanged. The state after step s depends on the configuration and s alone, whatever stops lay between.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.multiprocessing.spawn import spawn

from seacausal.aggregate.model import Base, ModelConfig
from seacausal.errors import CheckpointError, DataError
from seacausal.train.checkpoint import flatten_optimizer, read_checkpoint, restore_optimizer, write_checkpoint
from seacausal.train.domain import Domain
from seacausal.train.minibatch import SIZES, Size, draw_minibatch


@dataclass(frozen=True)
class TrainConfig:
    """One training run."""

    steps: int = 30_000
    """Optimiser steps in all."""
    learning_rate: float = 2e-3
    """AdamW learning rate after warm-up."""
    warmup: int = 100
    """Steps of linear warm-up."""
    decay: float = 0.2
    """Last share of the steps, over which the learning rate falls linearly to zero."""
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
    model: ModelConfig = field(default_factory=ModelConfig)
    """Sizes of the network."""
    domain: Domain = field(default_factory=Domain)
    """What the data sets are drawn from."""
    sizes: tuple[Size, ...] = SIZES
    """How wide they are."""


def pair_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """Mean cross entropy (nats) over unordered pairs; (b, d, d, 3) and (b, d, d)."""
    i, j = torch.triu_indices(logits.shape[1], logits.shape[1], 1)
    return F.cross_entropy(logits[:, i, j].reshape(-1, 3), classes[:, i, j].reshape(-1))


def train(config: TrainConfig, folder: Path, *, resume: bool = False, until: int | None = None) -> Path:
    """Train in `folder`; returns the checkpoint `last.safetensors`. `log.csv` has step, seconds, examples and loss.

    Parameters
    ----------
    resume
        Go on from `last.safetensors`; the schedule of `config` may be longer than before.
    until
        Stop after this step, as if interrupted.

    Raises
    ------
    DataError
        If `folder` already holds a run and `resume` is not set.
    CheckpointError
        If there is nothing to resume, or it has other sizes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "last.safetensors"
    if path.exists() and not resume:
        raise DataError(f"'{folder}' must not hold a run already; found {path.name}. Pass --resume to go on, or another folder.")
    if resume and not path.exists():
        raise CheckpointError(f"'{folder}' must hold a run to resume; found no {path.name}. Leave --resume out to start one.")
    with tempfile.TemporaryDirectory() as store:
        if config.workers == 1:
            _work(0, config, path, until, None)
            torch.set_flush_denormal(False)  # this process goes on to other things
        else:
            spawn(_work, (config, path, until, f"file://{store}/store"), nprocs=config.workers)
    return path


def _work(rank: int, config: TrainConfig, path: Path, until: int | None, store: str | None) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    if store:
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=config.workers)
    torch.manual_seed(config.seed)
    model = Base(config.model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, betas=(0.9, 0.98))
    average = {name: value.detach().clone() for name, value in model.named_parameters()}
    step, examples, seconds = 0, 0, 0.0
    if path.exists():
        step, examples, seconds = _restore(path, config, model, optimizer, average)
    started = time.perf_counter() - seconds
    losses: list[Tensor] = []
    last = min(config.steps, until if until is not None else config.steps)
    while step < last:
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * _schedule(step, config)
        channels, classes = draw_minibatch(config.seed, step, rank, config.workers, sizes=config.sizes, domain=config.domain)
        loss = pair_loss(model(channels), classes)
        if not torch.isfinite(loss):
            raise FloatingPointError(f"The loss became {loss.item()} at step {step}, worker {rank}, {classes.shape[1]} variables.")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        _average_gradients(model, config.workers)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        examples += len(channels) * config.workers
        decay = min(config.ema, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, value in model.named_parameters():
                average[name].lerp_(value, 1 - decay)
        losses.append(loss.detach())
        if step % config.every == 0 or step == last:
            if rank == 0:
                _write_log(path.with_name("log.csv"), step, time.perf_counter() - started, examples, float(torch.stack(losses).mean()))
            losses.clear()
        if rank == 0 and (step % config.save_every == 0 or step == last):
            header = {"step": step, "examples": examples, "seconds": time.perf_counter() - started, "config": asdict(config)}
            tensors = {f"model.{k}": v for k, v in model.named_parameters()} | {f"average.{k}": v for k, v in average.items()}
            write_checkpoint(path, tensors | flatten_optimizer(optimizer), header)
    if store:
        dist.destroy_process_group()


def _schedule(step: int, config: TrainConfig) -> float:
    left = (config.steps - step) / max(1.0, config.decay * config.steps)
    return min(1.0, (step + 1) / config.warmup, left)


def _average_gradients(model: Base, workers: int) -> None:
    if workers == 1:
        return
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]
    flat = torch.cat([g.reshape(-1) for g in gradients]) / workers
    dist.all_reduce(flat)
    at = 0
    for parameter in model.parameters():
        parameter.grad = flat[at : at + parameter.numel()].view_as(parameter)
        at += parameter.numel()


def _restore(path: Path, config: TrainConfig, model: Base, optimizer: torch.optim.Optimizer, average: dict[str, Tensor]) -> tuple[int, int, float]:
    tensors, header = read_checkpoint(path)
    if header["config"]["model"] != asdict(config.model):
        raise CheckpointError(
            f"'{path}' must have the sizes {asdict(config.model)}; found {header['config']['model']}. Resume with the recipe it was started with."
        )
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(tensors[f"model.{name}"])
            average[name].copy_(tensors[f"average.{name}"])
    restore_optimizer(optimizer, tensors)
    return header["step"], header["examples"], header["seconds"]


def _write_log(path: Path, step: int, seconds: float, examples: int, loss: float) -> None:
    """One more line of `log.csv`, which is begun where it is missing."""
    with path.open("a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write("step,seconds,examples,loss\n")
        file.write(f"{step},{seconds:.1f},{examples},{loss:.5f}\n")
