"""Write the `paper` network as an ONNX graph for one data set; its inputs are those of `tokens.align_tokens`.

Tokens keep the order of the subsets here. Attention along the subsets gathers each segment, padded to the longest, and the fused operator leaves the
padding out.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from seacausal.aggregate.axial import Paper
from seacausal.aggregate.export import Graph, add_head, finish
from seacausal.errors import CheckpointError

INPUTS = {
    "statistic": (TensorProto.FLOAT, ["d", "d"]),
    "nodes": (TensorProto.INT64, ["d"]),
    "times": (TensorProto.INT64, ["t"]),
    "types": (TensorProto.INT64, ["t", "p"]),
    "cells": (TensorProto.INT64, ["t", "p"]),
    "members": (TensorProto.INT64, ["e", "m"]),
    "present": (TensorProto.INT32, ["e", "m"]),
    "place": (TensorProto.INT64, ["n"]),
    "owner": (TensorProto.INT64, ["q"]),
}


def export_paper(model: Paper, algorithm: str, statistic: str) -> bytes:
    """The graph to `logits` (d, d, 3), for any d and t up to the sizes of the embeddings; its metadata say what it reads.

    Raises
    ------
    CheckpointError
        If attention is tied, which has no graph yet.
    """
    config = model.config
    if config.tied:
        raise CheckpointError("The weights to export must not tie attention; found `tied` = true. Train without it.")
    graph = Graph(model)
    axis = {at: graph.constant(np.array([at])) for at in (0, 1, 2)}
    node = graph.one("Gather", graph.parameter("of_node.weight"), "nodes")
    x = graph.linear(graph.one("Unsqueeze", "statistic", axis[2]), "read")
    x = graph.one("Add", x, graph.one("Add", graph.one("Unsqueeze", node, axis[1]), graph.one("Unsqueeze", node, axis[0])))
    cause = graph.one("Unsqueeze", graph.linear(node, "cause"), axis[1])
    effect = graph.one("Unsqueeze", graph.linear(node, "effect", bias=False), axis[0])
    pairs = graph.linear(graph.one("Relu", graph.one("Add", cause, effect)), "pair")
    time = graph.one("Unsqueeze", graph.one("Gather", graph.parameter("of_time.weight"), "times"), axis[1])
    tokens = graph.one("Add", graph.one("Gather", graph.parameter("of_type.weight"), "types"), time)
    flat = graph.constant(np.array([-1, config.width]))
    tokens = graph.one("Add", tokens, graph.one("Gather", graph.one("Reshape", pairs, flat), "cells"))
    weight = graph.one("Unsqueeze", graph.one("Cast", "present", to=TensorProto.FLOAT), axis[2])
    share = graph.one("Div", weight, graph.one("ReduceSum", weight, axis[1], keepdims=1))
    count = graph.one("Gather", graph.one("Shape", "members"), graph.constant(np.array(0)))
    uncovered = graph.one("Unsqueeze", graph.one("GreaterOrEqual", "owner", count), axis[1])
    segment = graph.one("Min", "owner", graph.one("Sub", count, graph.constant(np.array(1))))
    for b in range(config.blocks):
        block = f"blocks.{b}"
        tokens = _add_attention(graph, tokens, f"{block}.inside", config.heads)
        tokens = _add_attention(graph, tokens, f"{block}.along", config.heads, flat)
        tokens = _add_feed_forward(graph, tokens, f"{block}.marginal")
        held = graph.one("Mul", graph.one("Gather", graph.one("Reshape", tokens, flat), "members"), share)
        means = graph.one("Gather", graph.one("ReduceSum", held, axis[1], keepdims=0), segment)
        message = graph.one("Reshape", graph.one("Where", uncovered, graph.parameter(f"{block}.uncovered"), means), graph.one("Shape", x))
        x = graph.linear(graph.one("Concat", x, message, axis=-1), f"{block}.merge")
        x = graph.one("Transpose", _add_attention(graph, x, f"{block}.rows", config.heads), perm=[1, 0, 2])
        x = graph.one("Transpose", _add_attention(graph, x, f"{block}.columns", config.heads), perm=[1, 0, 2])
        x = _add_feed_forward(graph, x, f"{block}.globally")
        tokens = graph.one("Add", tokens, graph.one("Gather", graph.one("Reshape", x, flat), "cells"))
    add_head(graph, x)
    facts = {"preset": "paper", "algorithm": algorithm, "statistic": statistic}
    return finish(graph, INPUTS, facts | {name: str(getattr(config, name)) for name in ("variables", "subsets")})


def _add_attention(graph: Graph, x: str, layer: str, heads: int, flat: str | None = None) -> str:
    """The layer along the second axis of x, or where the shape `flat` is given, along the segments."""
    parts = graph.add("Split", graph.linear(graph.norm(x, f"{layer}.norm"), f"{layer}.inward"), outputs=3, axis=-1)
    if flat is None:
        mixed = graph.one("MultiHeadAttention", *parts, domain="com.microsoft", num_heads=heads)
    else:
        parts = [graph.one("Gather", graph.one("Reshape", part, flat), "members") for part in parts]
        mixed = graph.one("MultiHeadAttention", *parts, "", "present", domain="com.microsoft", num_heads=heads)
        mixed = graph.one("Reshape", graph.one("Gather", graph.one("Reshape", mixed, flat), "place"), graph.one("Shape", x))
    return graph.one("Add", x, graph.linear(mixed, f"{layer}.outward"))


def _add_feed_forward(graph: Graph, x: str, layer: str) -> str:
    hidden = graph.one("Relu", graph.linear(graph.norm(x, f"{layer}.norm"), f"{layer}.inward"))
    return graph.one("Add", x, graph.linear(hidden, f"{layer}.outward"))
