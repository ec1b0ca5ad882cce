// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/box_outputs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mpm::onnx_graph {
namespace {

struct BoxCase {
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  int boxes, scores, masks;  // places; masks -1: none; boxes -1: no such head
};

TEST(BoxOutputs, AreFoundByTheirShapes) {
  const Shape boxes = {1, 6, 4}, scores = {1, 6, 91}, masks = {1, 6, 8, 8};
  for (const BoxCase& one : {
           BoxCase{{"a", "b"}, {boxes, scores}, 0, 1, -1},
           BoxCase{{"a", "b"}, {scores, boxes}, 1, 0, -1},
           BoxCase{{"a", "b", "c"}, {masks, scores, boxes}, 2, 1, 0},
           BoxCase{{"logits", "pred_boxes"}, {boxes, boxes}, 1, 0, -1},
           BoxCase{{"dets", "labels"}, {boxes, boxes}, 0, 1, -1},
           BoxCase{{"dets", "labels"}, {scores, boxes}, 1, 0, -1},
           BoxCase{{"a", "b"}, {boxes, boxes}, -1, 0, 0},
           BoxCase{{"box_1", "box_2"}, {boxes, boxes}, -1, 0, 0},
           BoxCase{{"a", "b"}, {scores, scores}, -1, 0, 0},
           BoxCase{{"a", "b"}, {boxes, {1, 7, 91}}, -1, 0, 0},
           BoxCase{{"a", "b"}, {boxes, {1, 6, 91, 1}}, -1, 0, 0},
           BoxCase{{"a"}, {boxes}, -1, 0, 0},
           BoxCase{{"a", "b", "c"}, {boxes, scores, scores}, -1, 0, 0},
           BoxCase{{"a", "b", "c"}, {boxes, scores, {1, 5, 8, 8}}, -1, 0, 0},
           BoxCase{{"a", "b", "c", "d"}, {boxes, scores, masks, masks}, -1, 0, 0},
           BoxCase{{"a", "b"}, {{2, 6, 4}, {2, 6, 91}}, -1, 0, 0},
           BoxCase{{"a", "b"}, {boxes, {}}, -1, 0, 0},
       }) {
    const auto found = boxOutputs(one.names, one.shapes);
    SCOPED_TRACE(::testing::Message() << one.names.front() << " of " << one.names.size() << ", "
                                      << toString(one.shapes.front()));
    ASSERT_EQ(found.has_value(), one.boxes >= 0);
    if (!found) continue;
    EXPECT_EQ(found->boxes, static_cast<std::size_t>(one.boxes));
    EXPECT_EQ(found->scores, static_cast<std::size_t>(one.scores));
    EXPECT_EQ(found->masks.has_value(), one.masks >= 0);
    EXPECT_EQ(found->masks.value_or(0), static_cast<std::size_t>(std::max(one.masks, 0)));
  }
}

}  // namespace
}  // namespace mpm::onnx_graph
