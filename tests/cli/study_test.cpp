// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <tuple>

#include "cli/command.h"
#include "cli/models.h"
#include "cli/street_model.h"
#include "evaluation/confusion_matrix.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

using ::testing::HasSubstr;

// Two streets, three frames each.
const std::string kFewStreets = "demo:street?seed=5..6&size=64x96&step=43200&frames=3";

std::string fileText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> tableLines(const std::string& path) {
  std::istringstream text(fileText(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class Study : public ::testing::Test {
 protected:
  void SetUp() override { writeStreetModel(model_); }

  CommandResult study(std::vector<std::string> more, const CommandOptions& options = {}) const {
    more.insert(more.begin(), {"study", "--model", model_, "--data", kFewStreets, "-o", out_});
    return mpmCommand(more, options);
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_ / "tiny.onnx", out_ = folder_ / "out", results_ = out_ + "/results.jsonl",
                    report_ = out_ + "/report.html";
  const std::vector<std::string> small_ = {
      "--reduce", "mpm:blocks=1", "--reduce", "gradual:blocks=0-2:count=2", "--sweep-images", "0"};
};

TEST_F(Study, MeasuresWhatEvalMeasures) {
  const CommandResult result = study(small_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              ::testing::MatchesRegex("model +data +precision +reduction +mIoU % +loss +ms +speed-up +tokens\n"
                                      "tiny +scene +fp32 +none .* 1\\.00 .*\n"
                                      "tiny +scene +fp32 +mpm:blocks=1 .*\n"
                                      "tiny +scene +fp32 +gradual:blocks=0-2:count=2 .*\n"
                                      ".*/report.html\n"));
  EXPECT_TRUE(result.out.ends_with("\n" + report_ + "\n"));
  const auto csv = tableLines(out_ + "/results.csv"), lines = tableLines(out_ + "/summary.jsonl");
  ASSERT_EQ(csv.size(), 4u) << "a header, the full model and two reductions";
  EXPECT_THAT(csv[0],
              ::testing::StartsWith("group,model,net,data,source,limit,sweep,precision,reduction,images,miou,"));
  EXPECT_THAT(csv[1], ::testing::StartsWith("\"tiny_scene_fp32\",\"tiny\",\"linear 24/4 12x20\",\"scene\","));
  EXPECT_THAT(csv[2], HasSubstr(",false,\"fp32\",\"mpm:blocks=1\",6,"));
  ASSERT_EQ(lines.size(), 3u);
  std::vector<nlohmann::json> rows;
  for (const std::string& line : lines) rows.push_back(nlohmann::json::parse(line));
  const std::string reductions[] = {"none", "mpm:blocks=1", "gradual:blocks=0-2:count=2"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto eval = mpmCommand({"eval", kFewStreets, "--model", model_, "--reduce", reductions[i], "--json"}).json();
    EXPECT_EQ(row["reduction"], reductions[i]);
    EXPECT_NEAR(row["miou"], eval["miou"], 2e-3);
    EXPECT_NEAR(row["pixel_accuracy"], eval["pixel_accuracy"], 2e-3);
    EXPECT_NEAR(row["tokens_end"], eval["tokens_mean"].back(), 1e-2);
    EXPECT_NEAR(row["miou_loss"], rows[0]["miou"].get<double>() - row["miou"].get<double>(), 2e-4);
    EXPECT_GT(row["ms_median"], 0);
    for (const std::string name : {"miou", "miou_loss", "agreement"}) {
      EXPECT_LE(row[name + "_low"], row[name].get<double>() + 1e-4) << name;
      EXPECT_GE(row[name + "_high"], row[name].get<double>() - 1e-4) << name;
    }
  }
  EXPECT_LT(rows[0]["miou_low"], rows[0]["miou_high"]);
  EXPECT_EQ(rows[0]["miou_loss_low"], rows[0]["miou_loss_high"]) << "the full model loses nothing in any sample";
  EXPECT_EQ(rows[0]["agreement"], 100) << "the full model agrees with itself";
  const auto measured = tableLines(results_);
  ASSERT_EQ(measured.size(), 3u);
  const auto gflop = [&](std::size_t line) { return nlohmann::json::parse(measured[line])["gflop"][0].get<double>(); };
  EXPECT_LT(gflop(0), gflop(2)) << "merged, full";

  // Of batches of 1 all ways are the same; in larger ones ragged rows cost least, and a common number most.
  const auto merged = nlohmann::json::parse(measured[0]);
  EXPECT_EQ(merged["batches"], (std::vector<int>{6, 5, 3, 0, 0, 0}));
  const auto cost = [&](const char* way) { return merged[way].get<std::vector<double>>(); };
  const auto ragged = cost("ragged"), padded = cost("padded"), minimum = cost("minimum");
  EXPECT_DOUBLE_EQ(padded[0], ragged[0]);
  EXPECT_DOUBLE_EQ(minimum[0], ragged[0]);
  EXPECT_GT(padded[2], ragged[2]);
  EXPECT_GE(minimum[2], padded[2]);
  const auto counted = nlohmann::json::parse(measured[2]);  // the full model: as many tokens in each image
  EXPECT_DOUBLE_EQ(counted["padded"][2], counted["ragged"][2]);
  EXPECT_DOUBLE_EQ(counted["minimum"][2], counted["ragged"][2]);
  for (const std::string& line : measured) {
    const auto row = nlohmann::json::parse(line);
    const double head_ms = row["stages"][5];  // 0 where OpenCV measures no layer times
    const auto blocks = row["blocks"].get<std::vector<double>>();
    EXPECT_EQ(blocks.size(), head_ms > 0 ? 3u : 0u);
    EXPECT_THAT(blocks, ::testing::Each(::testing::Gt(0.0)));
  }
}

/// mIoU in percent over some images, by a plain loop over what a line of results.jsonl counted of each.
double meanIouOf(const nlohmann::json& line, const std::vector<int>& images, const std::vector<const char*>& parts) {
  std::map<int, std::array<double, 3>> pixels;  // of each class: true, predicted, both
  for (const int image : images)
    for (const char* part : parts)
      for (const auto& [truth, prediction, count] :
           line[part][static_cast<std::size_t>(image)].get<evaluation::PairCounts>()) {
        pixels[static_cast<int>(truth)][0] += static_cast<double>(count);
        pixels[static_cast<int>(prediction)][1] += static_cast<double>(count);
        if (truth == prediction) pixels[static_cast<int>(truth)][2] += static_cast<double>(count);
      }
  double sum = 0;
  int classes = 0;
  for (const auto& [label, of] : pixels)
    if (of[0] > 0) {
      sum += of[2] / (of[0] + of[1] - of[2]);
      ++classes;
    }
  return 100 * sum / classes;
}

// All 6^6 samples of the six frames are listed here, so the true share of samples below a number is known.
TEST_F(Study, IntervalsAreThoseOfAllSamples) {
  ASSERT_EQ(study(small_).exit_code, 0);
  const auto measured = tableLines(results_), lines = tableLines(out_ + "/summary.jsonl");
  const auto merged = nlohmann::json::parse(measured.at(0)), full = nlohmann::json::parse(measured.at(2));
  const auto row = nlohmann::json::parse(lines.at(1));
  ASSERT_EQ(merged["variant"], row["reduction"]);
  using Parts = std::vector<const char*>;
  for (const auto& [name, parts, is_loss] : {std::tuple<std::string, Parts, bool>{"miou", {"near", "elsewhere"}, false},
                                             {"miou_loss", {"near", "elsewhere"}, true},
                                             {"miou_loss_near", {"near"}, true},
                                             {"miou_loss_elsewhere", {"elsewhere"}, true}}) {
    const auto valueOf = [&](const std::vector<int>& images) {
      const double own = meanIouOf(merged, images, parts);
      return is_loss ? meanIouOf(full, images, parts) - own : own;
    };
    EXPECT_NEAR(row[name], valueOf({0, 1, 2, 3, 4, 5}), 1e-4) << name;
    // The order of a sample does not matter: each multiset once, with the number of its orders.
    constexpr double kRounding = 1e-3;
    std::vector<std::pair<double, double>> samples;  // value, share of all samples
    std::vector<int> images(6);
    const std::function<void(std::size_t, int)> list = [&](std::size_t place, int first) {
      if (place < images.size()) {
        for (int image = first; image < 6; ++image) {
          images[place] = image;
          list(place + 1, image);
        }
        return;
      }
      double orders = 720;
      for (int image = 0; image < 6; ++image)
        orders /= std::tgamma(1.0 + static_cast<double>(std::count(images.begin(), images.end(), image)));
      samples.emplace_back(valueOf(images), orders / 46656);
    };
    list(0, 0);
    EXPECT_EQ(samples.size(), 462u);
    const auto shareBelow = [&](double limit) {
      double share = 0;
      for (const auto& [value, part] : samples) share += value < limit ? part : 0;
      return share;
    };
    const double low = row[name + "_low"], high = row[name + "_high"];
    EXPECT_LT(shareBelow(low - kRounding), 0.045) << name;
    EXPECT_GT(shareBelow(low + kRounding), 0.01) << name;
    EXPECT_LT(shareBelow(high - kRounding), 0.99) << name;
    EXPECT_GT(shareBelow(high + kRounding), 0.955) << name;
  }
  for (const std::string name : {"iou", "iou_loss"})
    for (std::size_t c = 0; c < row["classes"].size(); ++c) {
      if (row[name][c].is_null()) continue;
      EXPECT_LE(row[name + "_low"][c], row[name][c].get<double>() + 1e-4) << name << c;
      EXPECT_GE(row[name + "_high"][c], row[name][c].get<double>() - 1e-4) << name << c;
    }
}

TEST_F(Study, DrawsTheSameIntervalsEveryTime) {
  ASSERT_EQ(study(small_).exit_code, 0);
  const std::string first = fileText(out_ + "/summary.jsonl");
  ASSERT_EQ(study(small_).exit_code, 0) << "nothing to measure";
  EXPECT_EQ(fileText(out_ + "/summary.jsonl"), first);
}

TEST_F(Study, PutsThePapersNumbersBesideTheSameWork) {
  ASSERT_EQ(study(small_).exit_code, 0);
  EXPECT_THAT(fileText(report_), ::testing::Not(HasSubstr("of the paper")));
  std::string text = fileText(results_);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"linear 24/4 12x20", "mask_transformer 384/16 512x512"},
        {"\"scene\"", "\"ade20k\""},
        {"mpm:blocks=1", "mpm:blocks=2,5"}})
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  std::ofstream(results_, std::ios::trunc) << text;
  ASSERT_EQ(study({"--reduce", "mpm:blocks=2,5", "--sweep-images", "0"}).exit_code, 0) << "nothing to measure";
  EXPECT_THAT(fileText(report_), HasSubstr("<td>Seg-S/16</td><td>45.3</td>"));
  EXPECT_THAT(fileText(report_), HasSubstr("<td>Seg-S/16, MPM (2,5)</td><td>45.1</td>"));
}

TEST_F(Study, RefusesResultsOfAnotherVersion) {
  ASSERT_EQ(study(small_).exit_code, 0);
  std::string text = fileText(results_);
  text.replace(text.find("\"blocks\""), 8, "\"others\"");
  std::ofstream(results_, std::ios::trunc) << text;
  expectFailure(study(small_), 1, {"a file of results of this version of the command", "name another file or folder"});
  EXPECT_EQ(fileText(results_), text);
}

TEST_F(Study, WritesAReportThatNeedsNoNetwork) {
  ASSERT_EQ(study({"--reduce", "mpm:blocks=1", "--sweep-images", "2"}).exit_code, 0);
  const std::string html = fileText(report_);
  EXPECT_THAT(html, HasSubstr("<td>mpm:blocks=1</td>"));
  EXPECT_THAT(html, HasSubstr("on the Pareto front"));
  for (const char* outside : {"src=", " href=\"http", "@import", "<script"})
    EXPECT_THAT(html, ::testing::Not(HasSubstr(outside)));
  for (const char* figure : {"time", "gflop", "tokens", "classes", "boundaries", "locality", "batches", "stages",
                             "blocks", "depth_loss", "depth_speed"}) {
    const std::string name = out_ + "/figures/tiny_scene_fp32_" + figure;
    const std::string svg = fileText(name + ".svg");
    const auto start = svg.find("<svg");
    ASSERT_NE(start, std::string::npos) << name;
    EXPECT_THAT(html, HasSubstr(svg.substr(start))) << name;
    EXPECT_FALSE(cv::imread(name + ".png").empty()) << name;
  }
}

TEST_F(Study, SaysWhatItsReportIsMissing) {
  std::ofstream(folder_ / "matplotlib.py") << "raise ImportError('no matplotlib here')\n";
  const CommandResult result = study(small_, {.environment = {{"PYTHONPATH", folder_.path()}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.ends_with("\n" + out_ + "/results.csv\n")) << result.out;
  EXPECT_THAT(result.err, HasSubstr("no matplotlib here (Debian has python3-matplotlib)"));
  EXPECT_FALSE(std::filesystem::exists(report_));
  EXPECT_EQ(tableLines(out_ + "/summary.jsonl").size(), 3u);
  ASSERT_EQ(study(small_).exit_code, 0) << "it is drawn later";
  EXPECT_TRUE(std::filesystem::exists(report_));
}

// Whatever a line says: the figures stay in the folder, and a line that was changed is named.
TEST_F(Study, NamesInResultsStayInTheFolder) {
  ASSERT_EQ(study(small_).exit_code, 0);
  const std::vector<std::string> before = tableLines(results_);
  const auto change = [&](const std::function<void(nlohmann::json&)>& edit) {
    std::ofstream file(results_);
    for (const std::string& line : before) {
      nlohmann::json json = nlohmann::json::parse(line);
      edit(json);
      file << json << '\n';
    }
  };
  change([](auto& line) { line["model"] = "../../x"; });
  ASSERT_EQ(study(small_).exit_code, 0);
  for (const std::string& line : tableLines(out_ + "/summary.jsonl")) {
    const std::string group = nlohmann::json::parse(line)["group"];
    EXPECT_EQ(group.find('/'), std::string::npos) << group;
    EXPECT_NE(group.front(), '.') << group;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("out", "tiny.onnx", "tiny.json"));

  const std::pair<std::function<void(nlohmann::json&)>, const char*> cases[] = {
      {[](auto& line) { line["near"][0][0][2] = -1; }, "near[0][0][2]: found -1"},
      {[](auto& line) { line["near"][0][0][0] = 99; }, "near[0][0][0]: found 99"},
      {[](auto& line) { line["ms"].push_back(1); }, "full_ms: found"},
      {[](auto& line) { line["first"] = -64; }, "first: found -64"},
      {[](auto& line) { line["classes"] = nlohmann::json::array(); }, "classes: found []"},
      {[](auto& line) { line.erase("digest"); }, "is not a manifest or a file of results"}};
  for (const auto& [edit, part] : cases) {
    change(edit);
    expectFailure(study(small_), 1, {"results.jsonl", part});
  }
}

TEST_F(Study, GoesOnWhereItWasKilled) {
  ASSERT_EQ(study(small_).exit_code, 0);
  const std::string all = fileText(results_);
  const auto before = tableLines(results_);
  ASSERT_EQ(before.size(), 3u);
  // A line that was cut off is named. Without it, its work is done again, and nothing else.
  std::ofstream(results_, std::ios::trunc) << all.substr(0, all.size() - before[2].size() / 2);
  expectFailure(study(small_), 1, {"line 3 of", "is damaged: remove that line"});
  std::ofstream(results_, std::ios::trunc) << before[0] << '\n' << before[1] << '\n';
  ASSERT_EQ(study(small_).exit_code, 0);
  auto after = tableLines(results_);
  ASSERT_EQ(after.size(), 3u);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
  for (const std::string& line : after) EXPECT_TRUE(nlohmann::json::accept(line));

  // Nothing is left to do; another reduction is measured alone.
  ASSERT_EQ(study(small_).exit_code, 0);
  EXPECT_EQ(tableLines(results_), after);
  ASSERT_EQ(study({"--reduce", "tome:count=2", "--sweep-images", "0"}).exit_code, 0);
  after = tableLines(results_);
  ASSERT_EQ(after.size(), 4u);
  EXPECT_EQ(nlohmann::json::parse(after[3])["variant"], "tome:count=2");
  EXPECT_EQ(tableLines(out_ + "/results.csv").size(), 5u);
}

TEST_F(Study, RefusesWhatMakesNoSense) {
  expectFailure(mpmCommand({"study", "--data", "kitti:x", "-o", out_}), 2, {"'kitti' is no data set"});
  expectFailure(mpmCommand({"study", "--data", "x", "-o", out_}), 2, {"NAME:DIR"});
  expectFailure(study({"--reduce", "fly"}), 2, {"fly"});
  expectFailure(study({"--precision", "fp8"}), 2, {"fp8"});
  ASSERT_EQ(mpmCommand({"convert", model_, "-o", folder_ / "m.onnx", "--schedule", "1"}).exit_code, 0);
  expectFailure(mpmCommand({"study", "--model", folder_ / "m.onnx", "--data", kFewStreets, "-o", out_}), 1,
                {"converted"});
}

}  // namespace
}  // namespace mpm::test
