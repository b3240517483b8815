import json

from safetensors.numpy import load_file, save_file

from seacausal.aggregate.adapter import FORMAT, hash_weights
from seacausal.aggregate.network import released
from seacausal.bench.adapted import measure_adapter


def test_an_adapter_is_judged_beside_the_weights_it_changes(tmp_path):
    """One that hears nothing of the channels knows nothing; what it is judged beside is as good as the released weights."""
    weights = load_file(released().tensors)
    header = {"weights": hash_weights(weights), "algorithm": "pc", "statistic": "spearman"}
    path = tmp_path / "deaf.safetensors"
    save_file({"read.2.weight": 0 * weights["read.2.weight"]}, path, metadata={"format": FORMAT, "header": json.dumps(header)})
    cells = measure_adapter(path, released(), graphs=1)
    assert [kind for _, kind in cells] == ["raw", "standardised", "few channels"] * 2
    for scores in cells.values():
        assert scores.mean("pc + spearman, adapted") < 0.4
        assert scores.mean("pc + spearman, not adapted") > 0.7
        assert scores.mean("as released") > 0.8
