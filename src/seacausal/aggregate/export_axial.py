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
    w = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    graph = Graph()
    axis = {at: graph.constant(np.array([at])) for at in (0, 1, 2)}
    node = graph.one("Gather", graph.constant(w["of_node.weight"]), "nodes")
    x = graph.linear(graph.one("Unsqueeze", "statistic", axis[2]), w["read.weight"], w["read.bias"])
    x = graph.one("Add", x, graph.one("Add", graph.one("Unsqueeze", node, axis[1]), graph.one("Unsqueeze", node, axis[0])))
    cause = graph.one("Unsqueeze", graph.linear(node, w["cause.weight"], w["cause.bias"]), axis[1])
    effect = graph.one("Unsqueeze", graph.linear(node, w["effect.weight"]), axis[0])
    pairs = graph.linear(graph.one("Relu", graph.one("Add", cause, effect)), w["pair.weight"], w["pair.bias"])
    time = graph.one("Unsqueeze", graph.one("Gather", graph.constant(w["of_time.weight"]), "times"), axis[1])
    tokens = graph.one("Add", graph.one("Gather", graph.constant(w["of_type.weight"]), "types"), time)
    flat = graph.constant(np.array([-1, config.width]))
    tokens = graph.one("Add", tokens, graph.one("Gather", graph.one("Reshape", pairs, flat), "cells"))
    weight = graph.one("Unsqueeze", graph.one("Cast", "present", to=TensorProto.FLOAT), axis[2])
    share = graph.one("Div", weight, graph.one("ReduceSum", weight, axis[1], keepdims=1))
    for b, block in enumerate(model.blocks):
        part = {name: w[f"blocks.{b}.{name}"] for name in block.state_dict()}
        tokens = _add_attention(graph, tokens, part, "inside", config.heads)
        tokens = _add_attention(graph, tokens, part, "along", config.heads, flat)
        tokens = _add_feed_forward(graph, tokens, part, "marginal")
        held = graph.one("Mul", graph.one("Gather", graph.one("Reshape", tokens, flat), "members"), share)
        means = graph.one("Concat", graph.one("ReduceSum", held, axis[1], keepdims=0), graph.constant(part["uncovered"][None]), axis=0)
        message = graph.one("Reshape", graph.one("Gather", means, "owner"), graph.one("Shape", x))
        x = graph.linear(graph.one("Concat", x, message, axis=-1), part["merge.weight"], part["merge.bias"])
        x = graph.one("Transpose", _add_attention(graph, x, part, "rows", config.heads), perm=[1, 0, 2])
        x = graph.one("Transpose", _add_attention(graph, x, part, "columns", config.heads), perm=[1, 0, 2])
        x = _add_feed_forward(graph, x, part, "globally")
        tokens = graph.one("Add", tokens, graph.one("Gather", graph.one("Reshape", x, flat), "cells"))
    add_head(graph, x, w)
    facts = {"preset": "paper", "algorithm": algorithm, "statistic": statistic}
    return finish(graph, INPUTS, facts | {name: str(getattr(config, name)) for name in ("variables", "subsets")})


def _add_attention(graph: Graph, x: str, w: dict[str, np.ndarray], name: str, heads: int, flat: str | None = None) -> str:
    """The layer along the second axis of x, or where the shape `flat` is given, along the segments."""
    norm = graph.norm(x, w[f"{name}.norm.weight"], w[f"{name}.norm.bias"])
    qkv = graph.linear(norm, w[f"{name}.inward.weight"], w[f"{name}.inward.bias"])
    parts = graph.add("Split", qkv, outputs=3, axis=-1)
    if flat is None:
        mixed = graph.one("MultiHeadAttention", *parts, domain="com.microsoft", num_heads=heads)
    else:
        parts = [graph.one("Gather", graph.one("Reshape", part, flat), "members") for part in parts]
        mixed = graph.one("MultiHeadAttention", *parts, "", "present", domain="com.microsoft", num_heads=heads)
        mixed = graph.one("Reshape", graph.one("Gather", graph.one("Reshape", mixed, flat), "place"), graph.one("Shape", x))
    return graph.one("Add", x, graph.linear(mixed, w[f"{name}.outward.weight"], w[f"{name}.outward.bias"]))


def _add_feed_forward(graph: Graph, x: str, w: dict[str, np.ndarray], name: str) -> str:
    norm = graph.norm(x, w[f"{name}.norm.weight"], w[f"{name}.norm.bias"])
    hidden = graph.one("Relu", graph.linear(norm, w[f"{name}.inward.weight"], w[f"{name}.inward.bias"]))
    return graph.one("Add", x, graph.linear(hidden, w[f"{name}.outward.weight"], w[f"{name}.outward.bias"]))
