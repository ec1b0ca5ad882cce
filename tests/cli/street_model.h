// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "onnx/tiny_vit.h"
#include "scene/street.h"

namespace mpm::test {

/// A tiny random ViT of 3 blocks whose classes are those of the scene, as `path` and its facts beside it.
inline void writeStreetModel(const std::string& path) {
  static_assert(TinyVit::kClasses == scene::kClasses);
  TinyVit({.head = HeadStyle::kLinear}).save(path);
  nlohmann::json facts = {{"name", "tiny street"},
                          {"mean", {0.5, 0.5, 0.5}},
                          {"std", {0.5, 0.5, 0.5}},
                          {"classes", nlohmann::json::array()}};
  for (const scene::ClassStyle& style : scene::kClassStyles)
    facts["classes"].push_back({{"name", style.name}, {"color", "#336699"}});
  std::ofstream(path.substr(0, path.rfind('.')) + ".json") << facts;
}

}  // namespace mpm::test
