// SPDX-License-Identifier: Apache-2.0
// Results that were edited or damaged, and files that are not ours: refused in one line, and left as they are.
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

using Json = nlohmann::ordered_json;

class DamagedResults : public InFolder {
 protected:
  void SetUp() override { writeLabelledImages(folder_, 3); }
  CommandResult eval(const Words& more) const {
    return mpmCommand(
        Words{"eval", "--model", kSegmenter, "--images", folder_ / "images", "--labels", folder_ / "labels", "--json"} +
        more);
  }
  CommandResult run(const Words& more) const {
    return mpmCommand(Words{"run", folder_ / "images", "--model", kSegmenter, "--out", folder_ / "out"} + more);
  }
};

std::string deep() { return std::string(300'000, '[') + std::string(300'000, ']'); }

std::string edited(const std::string& text, const std::function<void(std::vector<Json>&)>& change) {
  std::vector<Json> lines;
  for (const std::string& line : CommandResult{.out = text}.lines()) lines.push_back(Json::parse(line));
  change(lines);
  std::string changed;
  for (const Json& line : lines) changed += line.dump() + "\n";
  return changed;
}

// The lines of `mpm eval` have one reader, whether they are resumed or combined.
TEST_F(DamagedResults, LinesAreNeitherResumedNorCombined) {
  const std::string file = folder_ / "lines.jsonl";
  ASSERT_EQ(eval({"--resume", file}).exit_code, 0);
  const std::string good = readFile(file);
  const struct {
    std::function<void(std::vector<Json>&)> change;
    std::string part;
  } cases[] = {
      {[](auto& lines) { lines.push_back(lines[1]); }, "line 4 of "},
      {[](auto& lines) { lines[2]["confusion"][0][2] = -1; }, "confusion[0][2]: found -1"},
      {[](auto& lines) { lines[2]["confusion"][0][0] = 4; }, "confusion[0][0]: found 4"},
      {[](auto& lines) { lines[2]["confusion"][0][0] = true; }, "confusion[0][0]: found true"},
      {[](auto& lines) { lines[2]["confusion"][0][2] = std::int64_t{1} << 62; }, "found 4611686018427387904"},
      {[](auto& lines) { lines[2]["confusion"][0][2] = std::int64_t{1} << 50; }, "more pixels of a class"},
      {[](auto& lines) { lines[2]["confusion"][0][2] = 100'000; }, "is not what its counts give"},
      {[](auto& lines) { lines[2]["confusion"][0].erase(2); }, "expected a list of 3"},
      {[](auto& lines) { lines[2]["tokens"][0] = "many"; }, "tokens[0]: found \"many\""},
      {[](auto& lines) { lines[2]["tokens"].push_back(1); }, "the tokens are of 3 steps, those before of 2"},
      {[](auto& lines) { lines[2]["classes"] = Json::array(); }, "classes: found []"},
      {[](auto& lines) { lines[2].erase("total_ms"); }, "expected an object with \"total_ms\""},
      {[](auto& lines) { lines[2]["name"] = 7; }, "name: found 7"},
  };
  for (const auto& one : cases) {
    const std::string text = edited(good, one.change);
    write("lines.jsonl", text);
    expectFailure(eval({"--resume", file}), 1, {file, one.part});
    EXPECT_EQ(readFile(file), text);
  }
  write("lines.jsonl", good + deep() + "\n");
  expectFailure(eval({"--resume", file}), 1, {"line 4 of", "is damaged"});
  expectFailure(mpmCommand({"eval", "--combine", file}), 1, {"line 4 of", "is damaged"});
  write("lines.jsonl", edited(good, [](auto& lines) { lines[0]["shard"] = "0/3"; }));
  expectFailure(mpmCommand({"eval", "--combine", file}), 1, {"shard: '0/3' is not I/N"});
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const std::string& other : {std::string(folder_ / "fifo"), std::string("/dev/zero")})
    expectFailure(mpmCommand({"eval", "--combine", other}), 1, {other, "not a regular file"});
  expectFailure(mpmCommand({"eval", "--combine", folder_.path()}), 1, {"it is a folder"});
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

TEST_F(DamagedResults, ManifestsAreNotResumed) {
  ASSERT_EQ(run({"--resume"}).exit_code, 0);
  const std::string path = folder_ / "out/manifest.jsonl", good = readFile(path);
  const struct {
    std::function<void(std::vector<Json>&)> change;
    std::string part;
  } cases[] = {
      {[](auto& lines) { lines.push_back(lines[1]); }, "line 5 of "},
      {[](auto& lines) { lines[2]["name"] = "z"; }, "'z', which is none of the images"},
      {[](auto& lines) { lines[2]["name"] = "\x1b[2J"; }, "'\\x1b[2J', which is none of the images"},
      {[](auto& lines) { lines[2].erase("name"); }, "line 3 of "},
      {[](auto& lines) { lines[0]["extra"] = 1; }, "'extra' was 1 and is null"},
      {[](auto& lines) { lines[0]["input"]["width"] = 9; }, "'input' was {"},
  };
  for (const auto& one : cases) {
    const std::string text = edited(good, one.change);
    std::ofstream(path) << text;
    expectFailure(run({"--resume"}), 1, {path, one.part});
    EXPECT_EQ(readFile(path), text);
  }
  std::ofstream(path) << good << deep() << "\n";
  expectFailure(run({"--resume"}), 1, {"line 5 of", "is damaged"});
}

}  // namespace
}  // namespace mpm::test
