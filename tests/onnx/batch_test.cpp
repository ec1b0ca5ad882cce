// SPDX-License-Identifier: Apache-2.0
// Batches that are fixed in a graph. That each of several images becomes what it becomes alone: tests/worlds/graphs.

#include "mpm/mpm.hpp"
#include "onnx/graph_builder.h"
#include "support/data_path.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

class Batch : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
};

/// The converted net would take one image at a time, and the file is for two.
TEST_F(Batch, FixedInTheGraphAndMixedIsRefused) {
  const auto expectRefused = [&](const std::function<std::string(GraphBuilder&, const std::string&)>& mix,
                                 const std::string& part) {
    GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
    g.result(mix(g, g.model().graph().output(0).name()));
    g.save(path);
    EXPECT_MPM_ERROR(convertModel(path, {}), part);
  };
  const std::string found = "found a batch of 2 images that is fixed in the graph";
  expectRefused([](GraphBuilder& g, const std::string& x) { return g.reshape(x, {20}); },
                found + " and not kept apart behind");
  expectRefused(
      [](GraphBuilder& g, const std::string& x) {
        return g.node("Softmax", {x}, {{"axis", 0L}}, 1, "mixes");
      },
      "node 'mixes' (Softmax): " + found);
  expectRefused(  // rows of two images by their places among all four
      [](GraphBuilder& g, const std::string& x) {
        return g.node("Slice", {g.reshape(x, {4, 5}), g.ints({-3}), g.ints({4}), g.ints({0}), g.ints({2})});
      },
      "(Slice): " + found);
}

}  // namespace
}  // namespace mpm::test
