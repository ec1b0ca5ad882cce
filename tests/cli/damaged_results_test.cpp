// SPDX-License-Identifier: Apache-2.0
// Results that were edited or damaged, and files that are not ours: refused in one line, and left as they are.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class DamagedResults : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"images", "labels"}) fs::create_directory(folder_ / name);
    for (const char* name : {"a.png", "b.png", "c.png"}) {
      writeImage(folder_ / (std::string("images/") + name), 40, 70);
      cv::Mat labels(40, 70, CV_8U);
      cv::RNG(3).fill(labels, cv::RNG::UNIFORM, 0, 4);
      cv::imwrite(folder_ / (std::string("labels/") + name), labels);
    }
  }
  CommandResult eval(std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", "--model", kSegmenter, "--images", folder_ / "images", "--labels",
                               folder_ / "labels", "--json"});
    return mpmCommand(more);
  }
  CommandResult run(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", folder_ / "images", "--model", kSegmenter, "--out", folder_ / "out"});
    return mpmCommand(more);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  TemporaryFolder folder_;
};

std::string deep() { return std::string(300'000, '[') + std::string(300'000, ']'); }

TEST_F(DamagedResults, AreNotCombined) {
  const CommandResult good = eval({});
  ASSERT_EQ(good.exit_code, 0) << good.err;
  const Json result = Json::parse(good.out);
  write("good.json", good.out);
  const struct {
    std::function<void(Json&)> change;
    std::string part, file = "changed.json'";
  } cases[] = {
      {[](Json& j) { j["images"] = -1; }, "images: found -1"},
      {[](Json& j) { j["images"] = 3.5; }, "images: found 3.5"},
      {[](Json& j) { j["images"] = 0; }, "images: found 0, expected the images that the pixels are of"},
      {[](Json& j) { j["confusion"][0][0] = -5; }, "confusion[0][0]: found -5"},
      {[](Json& j) { j["confusion"][0][0] = true; }, "confusion[0][0]: found true"},
      {[](Json& j) { j["confusion"][0][0] = std::int64_t{1} << 62; }, "confusion[0][0]: found 4611686018427387904"},
      {[](Json& j) { j["confusion"][0][0] = std::int64_t{1} << 50; }, "more pixels of a class than can be counted"},
      {[](Json& j) { j["confusion"][0].erase(3); }, "confusion[0]: found ["},
      {[](Json& j) { j["confusion"].erase(3); }, "expected a list of 4"},
      {[](Json& j) { j["confusion"][0][0] = j["confusion"][0][0].get<int>() + 1000; }, "is not what the counts"},
      {[](Json& j) { j["miou"] = 99; }, "miou is not what the counts in 'confusion' give"},
      {[](Json& j) { j["ms_mean"]["total"] = "fast"; }, "ms_mean.total: found \"fast\""},
      {[](Json& j) { j["tokens_sd"].push_back(1); }, "tokens_sd: found ["},
      {[](Json& j) { j["model"] = 7; }, "model: found 7, expected a text"},
      {[](Json& j) { j["extra"] = 7; }, "differ in 'extra': 7 and null"},
      {[](Json& j) { j.erase("fit"); }, "differ in 'fit': null and \"resize\""},
      {[](Json& j) { j["shard"] = "1/1"; }, "good.json' is no shard, and others are", "good.json"},
      {[](Json& j) { j["shard"] = "0/3"; }, "shard: '0/3' is not I/N"},
      {[](Json& j) { j["iou"] = 4; }, "iou: found 4"},
      {[](Json& j) { j["day"] = 4; }, "day: found 4"},
      {[](Json& j) {
         for (int i = 0; i < 5000; ++i) j["iou"]["class " + std::to_string(i)] = 0;
       },
       "other classes"},
      {[](Json&) {}, "are the same result: its images would count twice"},
  };
  for (const auto& one : cases) {
    Json changed = result;
    one.change(changed);
    write("changed.json", changed.dump());
    expectFailure(mpmCommand({"eval", "--combine", folder_ / "good.json", folder_ / "changed.json"}), 1,
                  {one.file, one.part});
  }
  write("changed.json", "{\"shard\": " + deep() + "}");
  expectFailure(mpmCommand({"eval", "--combine", folder_ / "changed.json"}), 1, {"changed.json", "nested too deep"});
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const std::string& file : {std::string(folder_ / "fifo"), std::string("/dev/zero")})
    expectFailure(mpmCommand({"eval", "--combine", file}), 1, {file, "not a regular file"});
  expectFailure(mpmCommand({"eval", "--combine", folder_.path()}), 1, {"it is a folder"});
}

// Quadratic work would take minutes.
TEST_F(DamagedResults, ManyNamesAreCombinedOrRefused) {
  constexpr int kNames = 100'000;
  CommandResult whole = eval({});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  Json result = Json::parse(whole.out);
  std::string classes;
  for (int i = 0; i < kNames; ++i) {
    result["names"].push_back("image " + std::to_string(i));
    classes += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  }
  for (const char* shard : {"1/2", "2/2"}) {
    result["shard"] = shard;
    write(std::string(1, *shard) + ".json", result.dump());
  }
  whole = mpmCommand({"eval", "--combine", folder_ / "1.json", folder_ / "2.json", "--json"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.json()["images"], 6);
  EXPECT_EQ(whole.json()["names"].size(), kNames);
  result["names"].back() = "another";
  write("2.json", result.dump());
  expectFailure(mpmCommand({"eval", "--combine", folder_ / "1.json", folder_ / "2.json"}), 1, {"differ in 'names'"});
  write("2.json", "{\"iou\":{" + classes + "}}");
  expectFailure(mpmCommand({"eval", "--combine", folder_ / "2.json"}), 1, {"an object of over 10000 keys"});
}

TEST_F(DamagedResults, ForeignFilesStayAsTheyAre) {
  const std::string foreign[] = {R"({"a": 1})", "{\"a\": 1}\n", "{}",   "{\n  \"name\": \"m\"\n}\n",
                                 "\n",          "text\n",       deep(), "{\"model\":" + deep() + "}\n"};
  const std::string file = folder_ / "mine.json";
  for (const std::string& text : foreign) {
    write("mine.json", text);
    expectFailure(eval({"--resume", file}), 1, {file, "is not a manifest", "stays as it is"});
    EXPECT_EQ(readFile(file), text);
    fs::create_directories(folder_ / "out");
    write("out/manifest.jsonl", text);
    expectFailure(run({"--resume"}), 1, {"manifest.jsonl", "is not a manifest"});
    EXPECT_EQ(readFile(folder_ / "out/manifest.jsonl"), text);
  }
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  expectFailure(eval({"--resume", folder_ / "fifo"}), 1, {"not a regular file"});
}

TEST_F(DamagedResults, AreNotResumed) {
  const std::string file = folder_ / "m.jsonl";
  ASSERT_EQ(eval({"--resume", file}).exit_code, 0);
  ASSERT_EQ(run({"--resume"}).exit_code, 0);
  const struct {
    std::function<void(std::vector<Json>&)> change;
    std::string part;
    bool run = false;
  } cases[] = {
      {[](auto& lines) { lines.push_back(lines[1]); }, "line 5 of ", true},
      {[](auto& lines) { lines[2]["name"] = "z"; }, "'z', which is none of the images", true},
      {[](auto& lines) { lines[2]["name"] = "\x1b[2J"; }, "'\\x1b[2J', which is none of the images", true},
      {[](auto& lines) { lines[2].erase("name"); }, "line 3 of ", true},
      {[](auto& lines) { lines[0]["extra"] = 1; }, "'extra' was 1 and is null", true},
      {[](auto& lines) { lines[0]["input"]["width"] = 9; }, "'input' was {", true},
      {[](auto& lines) { lines[2]["confusion"][0][2] = -1; }, "confusion[0][2]: found -1"},
      {[](auto& lines) { lines[2]["confusion"][0][0] = 4; }, "confusion[0][0]: found 4"},
      {[](auto& lines) { lines[2]["confusion"][0][2] = 100'000; }, "is not what its counts give"},
      {[](auto& lines) { lines[2]["confusion"][0].erase(2); }, "expected a list of 3"},
      {[](auto& lines) { lines[2]["tokens"].push_back(1); }, "line 3 of "},
      {[](auto& lines) { lines[2]["ms"].erase("total"); }, "expected an object with \"total\""},
  };
  for (const std::string& path : {file, std::string(folder_ / "out/manifest.jsonl")}) {
    const std::string good = readFile(path);
    for (const auto& one : cases) {
      if (path != file && !one.run) continue;
      std::vector<Json> lines;
      std::istringstream in(good);
      for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
      one.change(lines);
      std::string text;
      for (const Json& line : lines) text += line.dump() + "\n";
      std::ofstream(path) << text;
      expectFailure(path == file ? eval({"--resume", file}) : run({"--resume"}), 1, {path, one.part});
      EXPECT_EQ(readFile(path), text);
    }
    std::ofstream(path) << good << deep() << "\n";
    expectFailure(path == file ? eval({"--resume", file}) : run({"--resume"}), 1, {"line 5 of", "is damaged"});
    std::ofstream(path) << good;
    EXPECT_EQ((path == file ? eval({"--resume", file}) : run({"--resume"})).exit_code, 0);
  }
}

}  // namespace
}  // namespace mpm::test
