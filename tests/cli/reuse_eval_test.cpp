// SPDX-License-Identifier: Apache-2.0
// `mpm eval --reuse` with street_vit_t16 on six rendered scenes, against what PyTorch gave with the same rule.

#include "cli/command.h"

namespace mpm::test {
namespace {

struct Row {
  const char *name, *scene, *reduce, *reuse;
  double rows, agreement, miou;  // shares, percent; miou 0: not measured
};

constexpr const char *kDay = "seed=4021&weather=auto&step=1&start=2026-06-10T09:00&frames=30",
                     *kNight = "seed=911&weather=auto&step=1&start=2026-10-02T19:30&frames=30",
                     *kDusk = "seed=77&weather=auto&step=20&start=2026-06-10T17:30&frames=40",
                     *kRain = "seed=31&weather=rain&step=1&start=2026-01-14T11:00&frames=20",
                     *kSnow = "seed=31&weather=snow&step=1&start=2026-01-14T11:00&frames=20",
                     *kFog = "seed=31&weather=fog&step=1&start=2026-01-14T11:00&frames=20";

const Row kRows[] = {
    {"day_8", kDay, "none", "threshold=8", 0.41, 0.9955, 74.50},
    {"day_12", kDay, "none", "threshold=12", 0.29, 0.994, 74.48},
    {"day_16", kDay, "none", "threshold=16", 0.22, 0.992, 74.19},
    {"day_24", kDay, "none", "threshold=24", 0.16, 0.987, 73.41},
    {"night_16", kNight, "none", "threshold=16", 0.55, 0.990, 61.85},
    {"night_24", kNight, "none", "threshold=24", 0.28, 0.985, 61.76},
    {"dusk_12", kDusk, "none", "threshold=12", 0.31, 0.991, 72.41},
    {"day_auto", kDay, "none", "auto", 0.37, 0.9945, 74.47},
    {"night_auto", kNight, "none", "auto", 0.39, 0.987, 61.75},
    {"dusk_auto", kDusk, "none", "auto", 0.40, 0.992, 72.64},
    {"rain_auto", kRain, "none", "auto", 0.27, 0.987, 65.15},
    {"snow_auto", kSnow, "none", "auto", 0.41, 0.990, 65.50},
    {"fog_auto", kFog, "none", "auto", 0.08, 0.986, 66.17},
    {"day_gradual", kDay, "gradual:blocks=0-7:similarity=0.97", "threshold=12", 0.29, 0.989, 0},
};

// As in PyTorch's rows: also over classes that the net sees and the truth does not have, whose IoU is 0.
double meanIou(const nlohmann::json& of_classes) {
  double sum = 0;
  int count = 0;
  for (const auto& iou : of_classes) {
    if (iou.is_null()) continue;
    sum += iou.get<double>();
    ++count;
  }
  return sum / count;
}

class ReuseEval : public ::testing::TestWithParam<Row> {};

TEST_P(ReuseEval, AgreesWithPyTorch) {
  const Row& row = GetParam();
  const auto eval = [&](const Words& more) {
    const Words words = {
        "eval",    std::string("demo:street?size=448x640&") + row.scene, "--reduce", row.reduce, "--reuse", row.reuse,
        "--model", MPM_SOURCE_DIR "/models/street_vit_t16.onnx",         "--json"};
    return succeeded(mpmCommand(words + more)).json();
  };
  const auto against = eval({"--against", "full"});
  EXPECT_NEAR(against["reuse"]["rows"], row.rows, 0.03);
  EXPECT_NEAR(against["pixel_accuracy"].get<double>() / 100, row.agreement, 0.003);
  if (row.miou == 0) return;
  EXPECT_NEAR(meanIou(eval({})["iou"]), row.miou, 0.15);
}

INSTANTIATE_TEST_SUITE_P(Scenes, ReuseEval, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace mpm::test
