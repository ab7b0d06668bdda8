"""Where the boxes and lines of a drawn graph go."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from ptxloom.views.flow.graph_layout import layered


@pytest.mark.parametrize("seed", range(60))
def test_boxes_stand_apart_and_lines_meet_them(seed: int) -> None:
    dice = random.Random(seed)
    count = dice.randint(1, 20)
    sizes = [(dice.randint(20, 200), dice.randint(10, 90)) for _ in range(count)]
    edges = [(dice.randrange(count), dice.randrange(count)) for _ in range(dice.randint(0, 2 * count))]
    order = dice.sample(range(count), count)
    drawing = layered(sizes, edges, order)
    boxes = [(x, y, x + width, y + height) for (x, y), (width, height) in zip(drawing.corners, sizes, strict=True)]
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    assert all(box[0] >= 0 and box[2] <= drawing.width and box[3] <= drawing.height for box in boxes)
    assert [(route.source, route.target) for route in drawing.routes] == edges
    for route in drawing.routes:
        for box, (x, y) in ((boxes[route.source], route.points[0]), (boxes[route.target], route.points[-1])):
            assert box[0] <= x <= box[2]
            assert box[1] <= y <= box[3]


def test_a_line_from_a_box_that_nothing_leads_to() -> None:
    drawing = layered([(10, 10)] * 4, [(0, 1), (1, 2), (3, 2)], [0, 1, 2, 3])
    assert [(route.source, route.target) for route in drawing.routes if route.backwards] == [(3, 2)]
