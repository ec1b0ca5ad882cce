// SPDX-License-Identifier: Apache-2.0
// What a net costs, and how the board is that computes it.

#include "evaluation/flop_counter.h"
#include "evaluation/machine.h"
#include "onnx/tiny_vit.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

const std::string kLinear = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";
const std::string kMask = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";

// What blocks with an MLP of twice their width cost, 2 per multiply-add.
double blockFlop(double rows, double dim) { return 2 * rows * dim * (4 * dim + 2 * 2 * dim) + 4 * rows * rows * dim; }

// Linear layers and attention of the ViT in front of a head; similarities once per pair.
double backboneFlop(const ModelInfo& model, const std::vector<double>& tokens) {
  const double d = model.dim;
  double flop = 2 * tokens[0] * 3 * model.patch.height * model.patch.width * d;
  std::size_t insertions = 0;
  for (int block = 0; block < model.blocks; ++block) {
    if (insertions < model.schedule().size() && model.schedule()[insertions] == block) {
      flop += tokens[insertions] * tokens[insertions] * d;
      ++insertions;
    }
    flop += blockFlop(model.special_tokens + tokens[insertions], d);
  }
  return flop;
}

// On the merged rows; the special rows come along.
double linearHeadFlop(const ModelInfo& model, double tokens) {
  return 2 * (model.special_tokens + tokens) * model.dim * model.classes;
}

// A projection of all rows, two blocks with the classes for special rows, a projection of either, and each token with
// each class.
double maskHeadFlop(const ModelInfo& model, double tokens) {
  const double d = model.dim, classes = model.classes;
  return 2 * (model.special_tokens + tokens) * d * d + 2 * blockFlop(classes + tokens, d) +
         2 * (tokens + classes) * d * d + 2 * tokens * classes * d;
}

TEST(FlopCounter, CountsLiveRows) {
  using HeadFlop = double (*)(const ModelInfo&, double);
  for (const auto& [path, headFlop] :
       {std::pair<std::string, HeadFlop>{kLinear, linearHeadFlop}, {kMask, maskHeadFlop}}) {
    for (const auto& [schedule, tokens] :
         {std::pair<Schedule, std::vector<double>>{{}, {32}}, {{1, 2}, {32, 20, 11}}, {{2}, {32, 17}}}) {
      const auto [bytes, model] = convertModel(path, {.reduce = mpmBefore(schedule)});
      const FlopCounter counter(bytes);
      EXPECT_DOUBLE_EQ(counter.count(tokens), backboneFlop(model, tokens) + headFlop(model, tokens.back())) << path;
      const double restored = backboneFlop(model, tokens) + headFlop(model, tokens.front());
      EXPECT_DOUBLE_EQ(counter.count(tokens, true), restored) << path;
      if (schedule.empty()) continue;
      Reduction reduce = mpmBefore(schedule);
      reduce.head_restored = true;
      EXPECT_DOUBLE_EQ(FlopCounter(convertModel(path, {.reduce = reduce}).bytes).count(tokens), restored) << path;
    }
  }
}

TEST(FlopCounter, CountsEachPartOfABlockThatMergesInside) {
  const auto attention = [](double rows, double d) { return 2 * rows * d * 4 * d + 4 * rows * rows * d; };
  const auto mlp = [](double rows, double d) { return 2 * rows * d * 2 * 2 * d; };
  for (const std::string spec : {"gradual:blocks=1,2:count=5", "tome:blocks=1,2:count=5", "algm:blocks=1,2"}) {
    const auto [bytes, model] = convertModel(kLinear, {.reduce = parseReduction(spec)});
    const double d = model.dim, special = model.special_tokens;
    const std::vector<double> tokens = {32, 20, 13};
    const double pairs = spec.starts_with("tome") ? d / model.heads / 2 : spec.starts_with("algm") ? d / 2 : d;
    const double first = spec.starts_with("algm") ? 3 * d * 32 : pairs * 32 * 32;
    EXPECT_DOUBLE_EQ(FlopCounter(bytes).count(tokens),
                     2 * 32.0 * 3 * model.patch.height * model.patch.width * d + blockFlop(special + 32, d) +
                         attention(special + 32, d) + first + mlp(special + 20, d) + attention(special + 20, d) +
                         pairs * 20 * 20 + mlp(special + 13, d) + linearHeadFlop(model, 13))
        << spec;
  }
}

TEST(FlopCounter, CountsTheEmbeddingOfSharedTokensToo) {
  const ModelInfo plain = readModelInfo(kLinear);
  const test::TemporaryFolder folder;
  const std::string path = folder / "policy.onnx";
  test::saveMeanPolicy(path, 2 * plain.patch.height);
  const auto [bytes, model] = convertModel(kLinear, {.reduce = parseReduction("cts:policy=" + path + ":share=0.5")});
  const double d = model.dim, embedding = 2 * 3.0 * model.patch.height * model.patch.width * d;
  double expected = 32 * embedding + 8 * embedding + linearHeadFlop(model, 20);
  for (int block = 0; block < model.blocks; ++block) expected += blockFlop(model.special_tokens + 20, d);
  EXPECT_DOUBLE_EQ(FlopCounter(bytes).count({32, 20}), expected);
}

TEST(FlopCounter, MeetsThePublishedNumberOfSegmenterTiny) {
  const std::string model = std::string(MPM_SHARED_DIR) + "/models/camvid_segmenter_vit_t16.onnx";
  if (!fs::exists(model)) GTEST_SKIP() << "no " << model;
  const FlopCounter counter(convertModel(model, {.reduce = kFullModel, .input_size = Size2{512, 512}}).bytes);
  // 25.3 GFLOP with 150 classes (paper, 2 per multiply-add); this one has 11: fewer rows in the head's two blocks.
  const double rows = 1024 + 150, fewer = 1024 + 11, d = 192;
  const double difference = 2 * ((rows - fewer) * 2 * d * 12 * d + 4 * (rows * rows - fewer * fewer) * d);
  EXPECT_NEAR(counter.count({1024}) + difference, 25.3e9, 0.01 * 25.3e9);
}

TEST(FlopCounter, CountsTheConvolutionsOfAHead) {
  using test::TinyVit;
  const test::TemporaryFolder folder;
  const auto flop = [&](const std::string& op, const std::vector<long>& weight, long stride) {
    test::GraphBuilder g = TinyVit(test::Dialect{}).graph();
    const std::string rows = g.slice("features", 1, test::Dialect{}.special, 1L << 60);
    const std::string map =
        g.reshape(g.transpose(rows, {0, 2, 1}), {1, TinyVit::kDim, TinyVit::kGridH, TinyVit::kGridW});
    const std::vector<double> values(weight[0] * weight[1] * weight[2] * weight[3], 0.5);
    g.result(g.node(op, {map, g.weights("w", weight, values)}, {{"strides", std::vector{stride, stride}}}));
    g.save(folder / "head.onnx");
    return FlopCounter(convertModel(folder / "head.onnx", {.reduce = kFullModel}).bytes).count({TinyVit::kTokens});
  };
  const double pixel = 2 * TinyVit::kDim * 6;  // one weight of each pair of channels
  const double base = flop("Conv", {6, TinyVit::kDim, 2, 2}, 1) - pixel * 4 * 2 * 4;
  EXPECT_EQ(flop("Conv", {6, TinyVit::kDim, 3, 2}, 1) - base, pixel * 6 * 1 * 4);
  EXPECT_EQ(flop("ConvTranspose", {TinyVit::kDim, 6, 2, 2}, 2) - base, pixel * 4 * 3 * 5);
  EXPECT_EQ(flop("ConvTranspose", {TinyVit::kDim, 6, 2, 2}, 1) - base, pixel * 4 * 4 * 6);
}

// The oracle: all MatMul, Gemm, Conv, ConvTranspose and Einsum nodes of the original files, with the shapes that ONNX
// Runtime gives their tensors: attention pooling, a class token beside the mean of the tokens, queries and their masks,
// boxes and decoders.
TEST(FlopCounter, CountsTheRowsOfHeads) {
  for (const auto& [file, flop] : {std::pair("timm_map_dynamo18", 581952.0),
                                   {"hf_dinov2_classifier_dynamo18", 363328.0},
                                   {"hf_eomt_ts17", 900288.0},
                                   {"hf_yolos_dynamo18", 882016.0},
                                   {"hf_rf_detr_dynamo18", 729344.0},
                                   {"hf_rf_detr_seg_dynamo18", 1273088.0},
                                   {"hf_upernet_dynamo18", 16096960.0}}) {
    const auto [bytes, model] =
        convertModel(MPM_TEST_DATA_DIR "/" + std::string(file) + ".onnx", {.reduce = kFullModel});
    EXPECT_DOUBLE_EQ(FlopCounter(bytes).count({static_cast<double>(model.tokens())}), flop) << file;
  }
}

TEST(FlopCounter, CountsTheMeanOverWindows) {
  const FlopCounter counter(convertModel(kLinear, {.reduce = mpmBefore({1})}).bytes);
  RunReport report;
  report.window_tokens = {{32, 8}, {32, 24}};
  report.tokens = {32, 16};
  EXPECT_DOUBLE_EQ(counter.countOf(report), (counter.count({32, 8}) + counter.count({32, 24})) / 2);
  EXPECT_GT(counter.countOf(report), counter.count({32, 16})) << "attention grows with the square";
}

TEST(FlopCounter, RefusesOpsWithoutWhatItCounts) {
  EXPECT_MPM_ERROR(FlopCounter("not a model"), "not ONNX");
  EXPECT_MPM_ERROR(FlopCounter(convertModel(kLinear, {.reduce = mpmBefore({1})}).bytes).count({32}),
                   "1 insertions, but there are 1 token counts");
  onnx::ModelProto whole = test::convertedModel(kMask, {.reduce = mpmBefore({1})});
  for (const char* op : {"PatchEmbed", "MutualPairMerge", "MaskScores"}) {
    for (const bool constants : {true, false}) {
      if (constants && std::string(op) == "MutualPairMerge") continue;
      onnx::ModelProto model = whole;
      for (auto& node : *model.mutable_graph()->mutable_node()) {
        if (node.op_type() != op) continue;
        constants ? node.mutable_input()->DeleteSubrange(1, node.input_size() - 1) : node.clear_output();
      }
      EXPECT_MPM_ERROR(FlopCounter(model.SerializeAsString()), std::string(op) + ") lacks");
    }
  }
}

// The files as a Raspberry Pi and an Intel CPU have them.
TEST(BoardState, IsWhatLinuxSays) {
  const test::TemporaryFolder folder;
  const std::string root = folder / "root";
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  };
  const std::string cpu = "/sys/devices/system/cpu/cpu", rapl = "/sys/class/powercap/intel-rapl:";
  write("/proc/device-tree/model", std::string("Some Board\0", 11));
  for (int i = 0; i < 2; ++i)
    write(cpu + std::to_string(i) + "/cpufreq/scaling_cur_freq", i == 0 ? "1500000\n" : "2400000\n");
  for (int i = 0; i < 2; ++i)
    write("/sys/class/thermal/thermal_zone" + std::to_string(i) + "/temp", i == 0 ? "71500\n" : "48000\n");
  write("/sys/class/hwmon/hwmon3/power1_input", "6250000\n");
  write("/sys/class/hwmon/hwmon4/name", "without a meter\n");
  write(rapl + "0/energy_uj", "1000000\n");
  write(rapl + "1/energy_uj", "2000000\n");
  write(rapl + "0:0/energy_uj", "500000\n");
  write("/sys/devices/platform/soc/soc:firmware/get_throttled", "50000\n");
  const BoardState before = boardState(root);
  EXPECT_DOUBLE_EQ(before.joules.value(), 3) << "cores are part of their package";
  BoardState after = before;
  after.ghz = 1.8, after.joules = 23;
  EXPECT_EQ(
      boardText(before, after, 4),
      "Some Board, 2.40 to 1.80 GHz, 72 to 72 degrees C, 6.2 to 6.2 W, 5.0 W on average, throttled 50000 (0: never)");
  BoardState unnamed = after;
  unnamed.name.clear();
  EXPECT_THAT(boardText(before, unnamed, 4), ::testing::StartsWith("2.40 to 1.80 GHz, "));
  after.joules = 1;
  EXPECT_EQ(boardText(before, after, 4).find("average"), std::string::npos);
  EXPECT_EQ(boardText(boardState(root + "/none"), boardState(root + "/none"), 1), "");
}

}  // namespace
}  // namespace mpm::evaluation
