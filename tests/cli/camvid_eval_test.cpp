// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

// `mpm eval` on CamVid's validation images, against what PyTorch got: every row of reference/expected.json and of
// reference/family.json.
namespace mpm::test {
namespace {

const std::string kShared = MPM_SHARED_DIR;
const std::string kExpected = kShared + "/reference/expected.json";

std::vector<nlohmann::json> expectedRows() {
  if (!fs::exists(kExpected)) return {};
  return nlohmann::json::parse(std::ifstream(kExpected))["eval"];
}

std::vector<nlohmann::json> rowsOfTheFamily() {
  const std::string file = kShared + "/reference/family.json";
  if (!fs::exists(file)) return {};
  return nlohmann::json::parse(std::ifstream(file));
}

std::vector<nlohmann::json> rowsOfPlainAttention() {
  std::vector<nlohmann::json> rows = expectedRows();
  std::erase_if(rows, [](const nlohmann::json& row) { return row["attention"] != "plain"; });
  return rows;
}

std::vector<nlohmann::json> gradualRows() {
  std::vector<nlohmann::json> rows = rowsOfTheFamily();
  std::erase_if(rows, [](const nlohmann::json& row) { return row["reduce"] != "gradual:blocks=0-7:count=48"; });
  return rows;
}

// The reduction of a row of the reference.
std::string reductionOf(const nlohmann::json& row) {
  if (row.contains("reduce")) return row["reduce"];
  const std::string blocks = row["schedule"];
  if (blocks == "none") return blocks;
  return "mpm:blocks=" + blocks +
         (row.contains("attention") ? ":attention=" + row["attention"].get<std::string>() : "");
}

CommandResult evaluate(const nlohmann::json& row, const std::string& precision) {
  Words words = {"eval",
                 "--model",
                 kShared + "/models/" + row["model"].get<std::string>(),
                 "--images",
                 kShared + "/data/camvid_val/images",
                 "--labels",
                 kShared + "/data/camvid_val/labels",
                 "--precision",
                 precision,
                 "--json"};
  words.insert(words.end(), {"--reduce", reductionOf(row)});
  if (row.contains("reduce"))
    words.insert(words.end(), {"--reduce", row["reduce"].get<std::string>() + ":head=restored"});
  return mpmCommand(words);
}

std::string nameOf(const ::testing::TestParamInfo<nlohmann::json>& row) {
  std::string name = row.param["model"];
  for (const char* option : {"schedule", "attention", "reduce"})
    if (row.param.contains(option)) name += "_" + row.param[option].get<std::string>();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

class CamVidEval : public ::testing::TestWithParam<nlohmann::json> {};
class CamVidEvalBf16 : public CamVidEval {};
class CamVidEvalInt8 : public CamVidEval {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CamVidEval);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CamVidEvalBf16);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CamVidEvalInt8);

TEST_P(CamVidEval, MeetsTheReference) {
  const nlohmann::json& row = GetParam();
  const CommandResult result = evaluate(row, "fp32");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = result.jsonLines();
  ASSERT_EQ(lines.size(), row.contains("reduce") ? 2u : 1u);
  EXPECT_NEAR(lines.back()["miou"], lines[0]["miou"], 0.003) << "a head on merged rows is exact";
  EXPECT_EQ(lines.back()["tokens_mean"], lines[0]["tokens_mean"]);
  const auto& json = lines.back();
  EXPECT_EQ(json["images"], row["images"]);
  EXPECT_NEAR(json["miou"], row["miou"], 0.1);
  EXPECT_NEAR(json["pixel_accuracy"], row.value("pixel_accuracy", json["pixel_accuracy"].get<double>()), 0.1);
  ASSERT_EQ(json["tokens_mean"].size(), row["tokens_mean"].size());
  for (std::size_t k = 0; k < row["tokens_mean"].size(); ++k)
    EXPECT_NEAR(json["tokens_mean"][k], row["tokens_mean"][k], 0.5) << k;
  const nlohmann::json iou_of_class = row.value("iou", nlohmann::json::object());
  for (const auto& [name, iou] : iou_of_class.items()) EXPECT_NEAR(json["iou"][name], iou, 0.5) << name;
}

TEST_P(CamVidEvalBf16, KeepsTheAccuracy) {
  const CommandResult result = evaluate(GetParam(), "bf16");
  if (result.err.find("no bf16 arithmetic") != std::string::npos) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NEAR(result.json()["miou"], GetParam()["miou"], 0.3);
}

TEST_P(CamVidEvalInt8, KeepsTheAccuracy) {
  const CommandResult result = evaluate(GetParam(), "int8");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(result.jsonLines()[0]["miou"].get<double>(), GetParam()["miou"].get<double>() - 0.3);
}

INSTANTIATE_TEST_SUITE_P(Rows, CamVidEval, ::testing::ValuesIn(expectedRows()), nameOf);
INSTANTIATE_TEST_SUITE_P(Family, CamVidEval, ::testing::ValuesIn(rowsOfTheFamily()), nameOf);
INSTANTIATE_TEST_SUITE_P(Rows, CamVidEvalBf16, ::testing::ValuesIn(rowsOfPlainAttention()), nameOf);
INSTANTIATE_TEST_SUITE_P(Rows, CamVidEvalInt8, ::testing::ValuesIn(rowsOfPlainAttention()), nameOf);
INSTANTIATE_TEST_SUITE_P(Gradual, CamVidEvalInt8, ::testing::ValuesIn(gradualRows()), nameOf);

// So that the absence of the data is seen.
TEST(CamVidEvalData, IsThere) {
  if (expectedRows().empty()) GTEST_SKIP() << "no reference results in " << kShared << " (set MPM_SHARED_DIR)";
}

}  // namespace
}  // namespace mpm::test
