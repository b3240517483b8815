"""Write the trained network as an ONNX graph, node by node, for inference without torch.

The graph takes one data set (d, d, c) rather than a batch, and attention is onnxruntime's fused operator, which never holds a (d, d, d) array: memory
grows with d^2, not d^3. It holds no weights: they are external data, by the names and in the layout of torch's parameters, which a session is given
from the `.safetensors` beside it (`network.Weights`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from seacausal.aggregate.model import Base

OPSET = 17


class Graph:
    """Collects nodes and weights; every method returns the name of its output."""

    def __init__(self, model: nn.Module) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}

    def add(self, operator: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> list[str]:
        """A node with several outputs."""
        names = [f"{operator.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, domain=domain, **attributes))
        return names

    def one(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output."""
        return self.add(operator, *inputs, **attributes)[0]

    def constant(self, value: np.ndarray) -> str:
        """An array that is the same whatever the weights."""
        name = f"constant{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def parameter(self, name: str) -> str:
        """A weight that lies outside."""
        outside = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=self._shapes[name], data_location=TensorProto.EXTERNAL)
        outside.external_data.add(key="location", value="weights")
        self.weights.append(outside)
        return name

    def linear(self, x: str, layer: str, *, bias: bool = True) -> str:
        """A linear layer."""
        product = self.one("MatMul", x, self.one("Transpose", self.parameter(f"{layer}.weight"), perm=[1, 0]))
        return self.one("Add", product, self.parameter(f"{layer}.bias")) if bias else product

    def norm(self, x: str, layer: str) -> str:
        """Layer normalisation."""
        return self.one("LayerNormalization", x, self.parameter(f"{layer}.weight"), self.parameter(f"{layer}.bias"), axis=-1, epsilon=1e-5)


def export_onnx(model: Base, dropped: float = 0.0) -> bytes:
    """The graph `channels` (d, d, c) float32 -> `logits` (d, d, 3), for any d; the file says how often groups were `dropped` in training."""
    config = model.config
    graph = Graph(model)
    x = graph.linear(graph.one("Relu", graph.linear("channels", "read.0")), "read.2")
    shape = graph.one("Shape", "channels")
    variables = graph.one("Gather", shape, graph.constant(np.array(0)))
    scale = graph.one("Reciprocal", graph.one("Sqrt", graph.one("Cast", variables, to=TensorProto.FLOAT)))
    for b in range(config.blocks):
        x = _add_block(graph, x, scale, f"blocks.{b}", config.split, config.heads)
    add_head(graph, x)
    return finish(graph, {"channels": (TensorProto.FLOAT, ["d", "d", config.channels])}, {"dropped": str(dropped)})


def _add_block(graph: Graph, x: str, scale: str, block: str, sizes: list[int], heads: int) -> str:
    inward = graph.linear(graph.norm(x, f"{block}.norm"), f"{block}.inward")
    parts = graph.add("Split", inward, graph.constant(np.array(sizes)), outputs=len(sizes), axis=-1)
    rows = graph.one("MultiHeadAttention", *parts[:3], domain="com.microsoft", num_heads=heads)
    turned = [graph.one("Transpose", part, perm=[1, 0, 2]) for part in parts[3:6]]
    columns = graph.one("Transpose", graph.one("MultiHeadAttention", *turned, domain="com.microsoft", num_heads=heads), perm=[1, 0, 2])
    left, right = (graph.one("Transpose", part, perm=[2, 0, 1]) for part in parts[6:8])
    left = graph.one("Mul", left, scale)
    mixed = []
    for factor, gate in ((left, parts[8]), (graph.one("Transpose", left, perm=[0, 2, 1]), parts[9])):
        product = graph.one("Transpose", graph.one("MatMul", factor, right), perm=[1, 2, 0])
        mixed.append(graph.one("Mul", product, graph.one("Sigmoid", gate)))
    joined = graph.one("Concat", rows, columns, *mixed, graph.one("Relu", parts[10]), axis=-1)
    return graph.one("Add", x, graph.linear(joined, f"{block}.outward"))


def add_head(graph: Graph, x: str) -> None:
    """`logits` (d, d, 3) from pair tokens (d, d, w)."""
    norm = graph.norm(x, "head.norm")
    forth = graph.linear(norm, "head.forth")
    back = graph.one("Transpose", graph.linear(norm, "head.back", bias=False), perm=[1, 0, 2])
    pair = graph.linear(graph.one("Relu", graph.one("Add", forth, back)), "head.out")
    none, direct = graph.add("Split", pair, graph.constant(np.array([1, 1])), outputs=2, axis=-1)
    none = graph.one("Add", none, graph.one("Transpose", none, perm=[1, 0, 2]))
    graph.nodes.append(helper.make_node("Concat", [none, direct, graph.one("Transpose", direct, perm=[1, 0, 2])], ["logits"], axis=-1))


def finish(graph: Graph, inputs: Mapping[str, tuple[int, list[Any]]], facts: dict[str, str]) -> bytes:
    """The file of a graph that ends in `logits`: its inputs are types and shapes by name, `facts` what its metadata hold."""
    proto = helper.make_graph(
        graph.nodes,
        "seacausal",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["d", "d", 3])],
        graph.weights,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(proto, opset_imports=opsets, ir_version=8)
    helper.set_model_props(model, facts)
    return model.SerializeToString()
