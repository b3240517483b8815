"""The HTML page: what it holds, that no name breaks it, and where the variables go."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from seacausal.data import EdgeProbabilities
from seacausal.report.page import render_page


class Scripts(HTMLParser):
    """The text of every script, by its id."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = {}, None

    def handle_starttag(self, tag, attrs):
        if tag == "script":
            self.inside = dict(attrs).get("id", "code")
            self.found[self.inside] = ""

    def handle_endtag(self, tag):
        self.inside = None if tag == "script" else self.inside

    def handle_data(self, data):
        if self.inside:
            self.found[self.inside] += data


def read(page):
    parser = Scripts()
    parser.feed(page.decode())
    assert list(parser.found) == ["data", "code"]
    return json.loads(parser.found["data"])


def random_probabilities(d, seed=0, power=6):
    direct = np.random.default_rng(seed).random((d, d)) ** power / 2
    np.fill_diagonal(direct, 0)
    return EdgeProbabilities(direct, tuple(f"gene {i}" for i in range(d)))


def test_every_likely_pair_stands_in_it_once():
    probabilities = random_probabilities(12)
    found = read(render_page(probabilities, 0.3, notes=["40 rows.", "A note."]))
    both = probabilities.direct + probabilities.direct.T
    assert {(min(i, j), max(i, j)) for i, j, _, _ in found["pairs"]} == {(i, j) for i, j in np.argwhere(np.triu(both >= 0.05)).tolist()}
    for i, j, there, back in found["pairs"]:
        assert there == pytest.approx(probabilities.direct[i, j], abs=6e-5)
        assert back == pytest.approx(probabilities.direct[j, i], abs=6e-5)
        assert there >= back
    sums = [there + back for _, _, there, back in found["pairs"]]
    assert sums == sorted(sums, reverse=True) or np.allclose(sums, sorted(sums, reverse=True), atol=2e-4)
    assert (found["notes"], found["threshold"]) == (["40 rows.", "A note."], 0.3)


def test_no_name_leaves_the_data_and_nothing_is_loaded():
    names = ("</script><script>alert(1)</script>", "<!--", 'q"uo\\te', "日本 & <b>")
    direct = np.zeros((4, 4))
    direct[0, 1] = direct[2, 3] = 0.9
    page = render_page(EdgeProbabilities(direct, names), 0.5, notes=["</script> of a note"])
    found = read(page)
    assert tuple(found["names"]) == names
    assert found["notes"] == ["</script> of a note"]
    addresses = set(re.findall(r"https?://[^\"\s]+", page.decode()))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert b"innerHTML" not in page


@pytest.mark.parametrize("d", [2, 11, 60, 300])
def test_boxes_lie_in_the_frame_and_apart_with_causes_above(d):
    probabilities = random_probabilities(d, power=20)
    found = read(render_page(probabilities, 0.4))
    x, y, widths = (np.array(found[key]) for key in ("x", "y", "widths"))
    left, top, width, height = found["box"]
    assert (x - widths / 2 >= left).all()
    assert (x + widths / 2 <= left + width).all()
    assert (y >= top).all()
    assert (y <= top + height).all()
    near = (np.abs(y[:, None] - y) < 26) & (np.abs(x[:, None] - x) < (widths[:, None] + widths) / 2 - 0.2)
    assert near.sum() == d
    chain = np.diag(np.full(d - 1, 0.9), 1)
    down = read(render_page(EdgeProbabilities(chain, probabilities.names), 0.5))
    assert (np.diff(down["y"]) > 0).all()


def test_the_same_graph_gives_the_same_bytes_and_none_is_no_error():
    probabilities = random_probabilities(20)
    assert render_page(probabilities, 0.3) == render_page(probabilities, 0.3)
    empty = read(render_page(EdgeProbabilities(np.zeros((3, 3)), ("a", "b", "c")), 0.5))
    assert empty["pairs"] == []
    assert len(set(zip(empty["x"], empty["y"]))) == 3
