"""Theorem 1 of the paper as weights: the network is set by hand to be Algorithm 1 up to its v-structures, and answers exactly.

One set of weights serves all graphs of up to n variables, with up to t estimates on subsets of up to k. Its width, 8 n + 14, and its hidden width, n,
are O(N); it has one head and two blocks. Only gains depend on k and t.

Features. A feature stands in one channel and its negative in another, so that every token has mean zero. What is true or false is 1 or -1, so that
all tokens have the same norm: a layer norm, which the paper leaves out of its analysis, then only divides by a constant, and its weights multiply by
it. All other numbers are whispered: written a thousand times smaller, so that the norm does not notice, and amplified where they are read.

Tokens. That of the pair (i, j) in a subset S begins as in the paper: which variable is `first`, which is `second`, and of the edge whether there is
none (`absent`) and whether j's end has an arrow (`arrow`). Tails and circles are alike, so PC's marks, which the paper takes, FCI's and a DAG's will
all do.

Block 1: the skeleton, and what block 2 needs.
- Inside S, (i, j) attends to those (i, m) that have no edge, and to itself if there are none. The mean of their second variables goes to `apart`: who
  is not adjacent to i in S; or else j, which does no harm.
- The message is the share of subsets in which i and j have no edge; the pair's feed-forward layer makes it `gone`, true if any has none, and tells
  every token of the pair (Algorithm 1, lines 3-8). A pair that no subset holds is gone.

Block 2: v-structures i *-> j <-* m of S whose arms are not gone (lines 9-15).
- Inside S, (i, j) attends to those (m, j) that have an arrow at j and are not gone, with m in `apart`; and to itself if there are none. The mean of
  their first variables goes to `partners`.
- The token's feed-forward layer sums partners other than i into `claim`, if (i, j) itself has an arrow at j.
- The message is the mean claim, and the pair's feed-forward layer makes it `arm`, true if any subset claims i -> j.

The head reads `gone`, which outweighs all else, and `arm`, of (i, j) and of (j, i). That i and m are not adjacent in the answer either, as line 11
asks, follows: S has no edge there. Attention along segments, rows and columns has nothing to do, and the statistic is not looked at.

Where the paper's construction is another: its attention asks whether two arrows meet, but not whether their far ends are adjacent; its softmax is to
give nothing where nothing fits, which a softmax cannot (here the token's own logit lies between those of what fits and of what does not); and its
third block copies arrows from one order of a pair to the other, which this head makes unnecessary.
"""

import functools
import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_resolve import Oracle, all_estimates, contradictory, needed_size
from torch import Tensor, nn

from seacausal.aggregate.axial import Attention, Block, FeedForward, Paper, PaperConfig
from seacausal.aggregate.resolve import resolve
from seacausal.aggregate.tokens import EDGE_TYPES, MARKS, join_tokens, make_tokens
from seacausal.graph.equivalence import complete_orientations, essential_graph
from seacausal.graph.marks import ARROW, NO_EDGE, TAIL
from seacausal.simulate.graphs import simulate_erdos_renyi, simulate_scale_free

WHISPER = 2.0**-10
"""Numbers other than 1 and -1 are written at this scale."""
GAIN = 20.0
"""Logits of what fits exceed all others by this much at least."""


class Construction:
    """The network, and the channels of its features."""

    @torch.no_grad()
    def __init__(self, n: int = 9, k: int = 9, t: int = 126) -> None:
        """For n variables and t subsets of k, or fewer."""
        self.n, self.k, self.t = n, k, t
        self.half = 4 * n + 7
        self.width = 2 * self.half
        self.first, self.second, self.apart, self.partners, *flags = torch.arange(self.half).split([n] * 4 + [1] * 7)
        self.absent, self.arrow, self.gone, self.arm, self.share, self.claim, self.always = flags
        self.model = Paper(PaperConfig(width=self.width, blocks=2, heads=1, hidden=max(n, 2), variables=n, subsets=t)).double().eval()
        for parameter in self.model.parameters():
            parameter.zero_()
        self.embed()
        self.find_skeleton(self.model.blocks[0])
        self.find_v_structures(self.model.blocks[1])
        self.answer()

    def embed(self) -> None:
        """One-hot codes of i and j, and what the edge type says."""
        model, nodes = self.model, torch.arange(self.n)
        model.of_node.weight[nodes, nodes] = 1
        model.cause.weight[self.first, nodes] = 1
        model.effect.weight[self.second, nodes] = 1
        for code in (self.first, self.second):
            self.write(model.pair, code, code, 2)
            self.start(model.pair.bias, code, -1)
        mark = torch.arange(EDGE_TYPES) % MARKS  # at the second variable's end
        self.start(model.of_type.weight.T, self.absent, torch.where(mark == NO_EDGE, 1.0, -1.0))
        self.start(model.of_type.weight.T, self.arrow, torch.where(mark == ARROW, 1.0, -1.0))

    def find_skeleton(self, block: Block) -> None:
        """Block 1."""
        self.undo(block.inside.norm, 2 * self.n + 2)
        query, key, value, gain = self.parts(block.inside)
        inward = block.inside.inward  # logits, over GAIN: 4 [same first variable] + 2 [absent] + 1 [same second variable], so 6, 5, or less
        read(inward, query + self.first, self.first)
        read(inward, key + self.first, self.first, 4 * gain)
        read(inward, query + self.second, self.second)
        read(inward, key + self.second, self.second, gain)
        inward.bias[query + self.always] = 1
        read(inward, key + self.always, self.absent, 2 * gain)
        read(inward, value + self.second, self.second)
        self.write(block.inside.outward, self.apart, self.second, WHISPER)

        self.write(block.merge, self.share, self.width + self.absent, WHISPER / 2)  # nothing of the pair as it was, that is of the statistic
        self.start(block.merge.bias, self.share, WHISPER / 2)
        block.uncovered[self.absent] = 1
        for verdict in (self.gone, self.arm):
            self.start(block.merge.bias, verdict, -1)
        self.find_any(block.globally, self.gone)

    def find_v_structures(self, block: Block) -> None:
        """Block 2."""
        self.undo(block.inside.norm, 2 * self.n + 4)
        query, key, value, gain = self.parts(block.inside)
        inward = block.inside.inward
        apart = 2 * (self.k - 1)  # so that each of up to k - 1 variables that are apart gains 2 at least; the token itself gains 1
        needed = apart + 2
        # logits, over GAIN: needed ([same second variable] + [arrow] - [gone]) + apart (share of its first variable) + [same first variable]
        read(inward, query + self.first, self.first)
        add(inward.weight, query + self.first, self.apart, apart / WHISPER)
        read(inward, key + self.first, self.first, gain)
        read(inward, query + self.second, self.second)
        read(inward, key + self.second, self.second, needed * gain)
        inward.bias[query + self.always] = 1
        read(inward, key + self.always, self.arrow, needed * gain)
        read(inward, key + self.always, self.gone, -needed * gain)
        read(inward, value + self.first, self.first)
        self.write(block.inside.outward, self.partners, self.first, WHISPER)

        self.undo(block.marginal.norm, 2 * self.n + 4)
        hidden, loud = torch.arange(self.n), 2.0 * self.k  # a partner's share is 1 / k at least
        add(block.marginal.inward.weight, hidden, self.partners, loud / WHISPER)
        block.marginal.inward.bias[hidden] = -1 - loud
        read(block.marginal.inward, hidden, self.first, -loud)
        read(block.marginal.inward, hidden, self.arrow, loud)
        self.write(block.marginal.outward, self.claim, hidden, WHISPER)

        for verdict in (self.gone, self.arm):
            self.write(block.merge, verdict, verdict, 1)
        self.write(block.merge, self.share, self.width + self.claim, 1)
        self.find_any(block.globally, self.arm)

    def find_any(self, layer: FeedForward, verdict: Tensor) -> None:
        """A verdict of -1 becomes 1 where the share is 1 / t or more, and stays where it is 0."""
        self.undo(layer.norm, 2)
        layer.inward.weight[:2, self.share] = 2 * self.t / WHISPER
        layer.inward.bias[:2] = torch.tensor([-0.5, -1.5])
        self.write(layer.outward, verdict, torch.tensor([0]), 2)  # the first less the second is 0 up to 1/4 of 1 / t, and 1 from 3/4 on
        self.write(layer.outward, verdict, torch.tensor([1]), -2)

    def answer(self) -> None:
        """Logits: no edge +-40, and 20 for every direction that is an arm."""
        head = self.model.head
        self.undo(head.norm, 2)
        head.forth.weight[0, self.gone] = head.forth.weight[1, self.arm] = 1
        head.out.weight[0, 0], head.out.bias[0] = 40, -20
        head.out.weight[1, 1] = 20

    def undo(self, norm: nn.LayerNorm, features: int) -> None:
        """Multiply by what the norm divides by where so many features are 1 or -1, all others close to 0."""
        norm.weight.fill_((features / self.half + norm.eps) ** 0.5)

    def parts(self, attention: Attention) -> tuple[int, int, int, float]:
        """Where queries, keys and values begin, whose channels are named as the features are; and the gain, times what logits are divided by."""
        return 0, self.width, 2 * self.width, GAIN * (self.width / attention.heads) ** 0.5

    def write(self, linear: nn.Linear, feature: Tensor, columns: Tensor, amount: float) -> None:
        """Add columns to a feature, with the negative to its negative."""
        add(linear.weight, feature, columns, amount)
        add(linear.weight, self.half + feature, columns, -amount)

    def start(self, channels: Tensor, feature: Tensor, value: Tensor | float) -> None:
        """Set a feature of (w, ...) channels, and its negative."""
        channels[feature] = torch.as_tensor(value, dtype=channels.dtype)
        channels[self.half + feature] = -channels[feature]


def add(weight: Tensor, rows: Tensor, columns: Tensor, amount: float) -> None:
    """One by one, or all of the one to all of the other if either is single."""
    pattern = torch.eye(len(rows)) if len(rows) == len(columns) else torch.ones(len(rows), len(columns))
    weight[rows[:, None], columns] += amount * pattern.to(weight)


def read(linear: nn.Linear, rows: Tensor, feature: Tensor, amount: float = 1.0) -> None:
    """Rows gain an amount where a feature is true, nothing where it is false."""
    add(linear.weight, rows, feature, amount / 2)
    linear.bias[rows] += amount / 2


def deafen(linear: nn.Linear, rows: Tensor, feature: Tensor, value: float) -> None:
    """Rows take a feature to have that value, whatever it has."""
    linear.bias[rows] += value * linear.weight[rows[:, None], feature].sum(1)
    linear.weight[rows[:, None], feature] = 0


@functools.cache
def construct() -> Construction:
    return Construction()


def run(construction: Construction, d: int, variables: np.ndarray, marks: np.ndarray, seed: int = 0) -> np.ndarray:
    """(d, d, 3) probabilities of no edge, i -> j, j -> i; the statistic is noise."""
    generator, config = np.random.default_rng(seed), construction.model.config
    tables = (config.variables, config.subsets)
    tokens = make_tokens(generator.standard_normal((d, d)), "correlation", variables, marks, tables=tables, generator=generator)
    arrays = {name: torch.from_numpy(array) for name, array in join_tokens([tokens]).items()}
    arrays["statistic"] = arrays["statistic"].to(construction.model.read.weight)
    with torch.no_grad():
        return construction.model(**arrays)[0].softmax(-1).double().numpy()


def decode(probabilities: np.ndarray) -> np.ndarray:
    """(d, d) marks: no edge, arrows, and two tails where the directions are level; every one of them certain."""
    none, direct = probabilities[..., 0], probabilities[..., 1]
    level = np.abs(direct - direct.T) < 1e-3
    certain = (none > 0.99) | (direct > 0.99) | (direct.T > 0.99) | ((none < 0.01) & level)
    assert certain[~np.eye(len(none), dtype=bool)].all()
    marks = np.where(none > 0.5, NO_EDGE, np.where((direct > direct.T) & ~level, ARROW, TAIL))
    np.fill_diagonal(marks, NO_EDGE)
    return marks


def true_pattern(adjacency: np.ndarray) -> np.ndarray:
    """(d, d) marks: the skeleton, with arrows along the arms of v-structures alone."""
    joined = adjacency | adjacency.T
    marks = np.where(joined, TAIL, NO_EDGE)
    for j in range(len(adjacency)):
        for i, m in itertools.combinations(np.flatnonzero(adjacency[:, j]), 2):
            if not joined[i, m]:
                marks[i, j] = marks[m, j] = ARROW
    return marks


def algorithm_1(variables: np.ndarray, d: int, marks: np.ndarray) -> np.ndarray:
    """(d, d) marks: lines 1 to 15 as they stand, where an edge that is oriented both ways, or that nothing orients, has two tails."""
    seen, cut, claimed = set(), set(), set()
    for subset, estimate in zip(variables.tolist(), marks):
        for a, b in itertools.permutations(range(len(subset)), 2):
            seen.add((subset[a], subset[b]))
            if estimate[a, b] == NO_EDGE:
                cut.add((subset[a], subset[b]))
    left = seen - cut
    for subset, estimate in zip(variables.tolist(), marks):
        for a, b, c in itertools.permutations(range(len(subset)), 3):
            i, j, m = subset[a], subset[b], subset[c]
            collider = estimate[a, b] == estimate[c, b] == ARROW and estimate[a, c] == NO_EDGE
            if collider and (i, j) in left and (m, j) in left and (i, m) not in left:
                claimed.add((i, j))
    answer = np.full((d, d), NO_EDGE)
    for i, j in left:
        answer[i, j] = ARROW if (i, j) in claimed and (j, i) not in claimed else TAIL
    return answer


@functools.cache
def draw(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A DAG of 5 to 9 variables, none with more than 3 neighbours, and exact estimates on all subsets of degree + 2."""
    generator = np.random.default_rng(seed)
    d = int(generator.integers(5, 10))
    simulate = {"Erdos-Renyi": simulate_erdos_renyi, "scale-free": simulate_scale_free}[kind]
    while True:
        adjacency = simulate(d, d * generator.uniform(1, 1.4), generator=generator)
        if (adjacency | adjacency.T).sum(0).max() <= 3:
            return adjacency, *all_estimates(Oracle(adjacency), d, needed_size(adjacency))


@pytest.mark.parametrize("kind", ["Erdos-Renyi", "scale-free"])
def test_one_network_recovers_the_skeleton_and_the_v_structures(kind):
    """From all subsets of degree + 2 variables; and Meek's rules go on to the CPDAG from there."""
    arms, undecided, misleading = 0, 0, 0
    for seed in range(18):
        adjacency, variables, marks = draw(kind, seed)
        d = len(adjacency)
        found = decode(run(construct(), d, variables, marks, seed))
        np.testing.assert_array_equal(found, true_pattern(adjacency), f"{kind} {seed}")
        completed = found.astype(np.int8)
        complete_orientations(completed)
        np.testing.assert_array_equal(completed, essential_graph(adjacency))
        np.testing.assert_array_equal(completed, resolve(variables, d, marks))
        joined = np.zeros((d, d), bool)
        for subset, estimate in zip(variables, marks):
            joined[np.ix_(subset, subset)] |= estimate != NO_EDGE
        arms += (found == ARROW).sum()
        undecided += ((found == TAIL) & (found.T == TAIL)).sum()
        misleading += (joined & (found == NO_EDGE)).sum()
    assert min(arms, undecided, misleading) > 30


def test_marks_of_other_formats_are_the_same_to_it():
    """The DAG itself or its CPDAG as the only estimate, of any degree: most arrows meet others whose far ends are adjacent."""
    for seed in range(20):
        generator = np.random.default_rng(seed)
        adjacency = simulate_erdos_renyi(9, generator.uniform(5, 30), generator=generator)
        dag = np.where(adjacency, ARROW, np.where(adjacency.T, TAIL, NO_EDGE)).astype(np.int8)
        for marks in (dag, essential_graph(adjacency)):
            np.testing.assert_array_equal(decode(run(construct(), 9, np.arange(9)[None], marks[None], seed)), true_pattern(adjacency))


@settings(max_examples=100, deadline=None)
@given(contradictory(), st.integers(0, 2**32))
def test_on_contradictory_estimates_it_is_algorithm_1(estimates, seed):
    variables, d, marks = estimates
    if len(variables):
        np.testing.assert_array_equal(decode(run(construct(), d, variables, marks, seed)), algorithm_1(variables, d, marks))


def test_single_precision_suffices():
    construction = Construction()
    construction.model.float()
    for seed in range(5):
        adjacency, variables, marks = draw("Erdos-Renyi", seed)
        found = run(construction, len(adjacency), variables, marks)
        np.testing.assert_array_equal(decode(found), true_pattern(adjacency))


def build_dag(d: int, *edges: tuple[int, int]) -> np.ndarray:
    adjacency = np.zeros((d, d), bool)
    adjacency[tuple(np.transpose(edges))] = True
    return adjacency


def forget_that_arrows_need_arrows(c: Construction) -> None:
    deafen(c.model.blocks[1].inside.inward, c.width + c.always, c.arrow, 1)


def forget_that_this_needs_an_arrow(c: Construction) -> None:
    deafen(c.model.blocks[1].marginal.inward, torch.arange(c.n), c.arrow, 1)


def forget_that_arms_are_left(c: Construction) -> None:
    deafen(c.model.blocks[1].inside.inward, c.width + c.always, c.gone, -1)


def forget_the_far_ends(c: Construction) -> None:
    """Nobody is apart, and the token itself is no better than a partner that is not."""
    deafen(c.model.blocks[1].inside.inward, c.first, c.apart, 0)
    deafen(c.model.blocks[1].inside.inward, c.first, c.first, -1)


CUT = build_dag(6, (0, 1), (2, 1), (1, 3), (2, 3), (3, 4))
"""Without 1, there is 0 *-> 3 <-* 2, though 0 and 3 are not adjacent and 2 -> 3 is in no v-structure; and 3 --- 4."""
SHIELDED = build_dag(7, (0, 1), (2, 1), (4, 1), (1, 3), (2, 3), (4, 3), (2, 4))
"""Likewise with 4 beside 2, so that without 1 the arrows of 2 -> 3 <- 4 meet; but 2 and 4 are adjacent."""


TWO = build_dag(6, (0, 1), (2, 1), (3, 4), (5, 4))
"""From whose whole graph a token that forgets itself gets the arrows of the other v-structure."""


@pytest.mark.parametrize(
    ("adjacency", "size", "forget", "wrong"),
    [
        (CUT, 5, forget_that_arms_are_left, {(2, 3): ARROW}),
        (CUT, 5, forget_that_arrows_need_arrows, {(2, 3): ARROW}),
        (SHIELDED, 6, forget_the_far_ends, {(2, 3): ARROW, (4, 3): ARROW}),
        (TWO, 6, forget_that_this_needs_an_arrow, {(0, 1): TAIL, (2, 1): TAIL, (3, 4): TAIL, (5, 4): TAIL}),
    ],
)
def test_every_condition_is_needed(adjacency, size, forget, wrong):
    """The network is built for exactly as many variables and subsets as there are."""
    d = len(adjacency)
    variables, marks = all_estimates(Oracle(adjacency), d, size)
    construction = Construction(d, size, len(variables))
    expected = true_pattern(adjacency)
    np.testing.assert_array_equal(decode(run(construction, d, variables, marks)), expected)
    with torch.no_grad():
        forget(construction)
    for (i, j), mark in wrong.items():
        assert expected[i, j] != mark
        expected[i, j] = mark
    np.testing.assert_array_equal(decode(run(construction, d, variables, marks)), expected)


@pytest.mark.parametrize("block", [0, 1])
def test_attention_is_needed(block):
    construction = Construction()
    torch.nn.init.zeros_(construction.model.blocks[block].inside.inward.weight)
    probabilities = run(construction, 6, *all_estimates(Oracle(CUT), 6, 5))
    np.testing.assert_array_equal(probabilities[..., 0] > 0.5, true_pattern(CUT) == NO_EDGE)
    assert not np.array_equal(probabilities[..., 1] > 0.99, true_pattern(CUT) == ARROW)


def test_the_subsets_are_needed():
    """Those that show that 0 and 3 are not adjacent left out; and smaller ones, where one cause does not separate two effects that have two."""
    variables, marks = all_estimates(Oracle(CUT), 6, 5)
    kept = ~(np.isin(variables, [0, 1, 2, 3]).sum(1) == 4)
    found = decode(run(construct(), 6, variables[kept], marks[kept]))
    assert found[0, 3] != NO_EDGE
    crossed = build_dag(4, (0, 2), (0, 3), (1, 2), (1, 3))
    np.testing.assert_array_equal(decode(run(construct(), 4, *all_estimates(Oracle(crossed), 4, 4))), true_pattern(crossed))
    assert decode(run(construct(), 4, *all_estimates(Oracle(crossed), 4, 3)))[2, 3] == TAIL
