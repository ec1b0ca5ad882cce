// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "onnx/tiny_vit.h"
#include "scene/street.h"
#include "support/in_folder.h"

namespace mpm::test {

/// A test with a tiny random ViT of 3 blocks whose classes are those of the scene, and its facts beside it.
class WithStreetModel : public InFolder {
 protected:
  void SetUp() override {
    static_assert(TinyVit::kClasses == scene::kClasses);
    TinyVit({.head = HeadStyle::kLinear}).save(model_);
    nlohmann::json facts = {{"name", "tiny street"},
                            {"mean", {0.5, 0.5, 0.5}},
                            {"std", {0.5, 0.5, 0.5}},
                            {"classes", nlohmann::json::array()}};
    for (const scene::ClassStyle& style : scene::kClassStyles)
      facts["classes"].push_back({{"name", style.name}, {"color", "#336699"}});
    std::ofstream(folder_ / "tiny.json") << facts;
  }

  const std::string model_ = folder_ / "tiny.onnx";
};

}  // namespace mpm::test
