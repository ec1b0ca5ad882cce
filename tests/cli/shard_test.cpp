// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>

#include <csignal>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

std::vector<nlohmann::json> linesOf(const std::string& path) {
  return CommandResult{.out = readFile(path)}.jsonLines();
}

/// Everything but what depends on the speed of the machine.
nlohmann::json withoutTimes(nlohmann::json result) {
  for (const char* key : {"ms", "ms_mean", "frame"}) result.erase(key);
  return result;
}

// Twelve images with labels.
class Shards : public InFolder {
 protected:
  static constexpr int kImages = 12;

  void SetUp() override { writeLabelledImages(folder_, kImages); }

  CommandResult eval(const Words& more, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"eval", "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--images", folder_ / "images",
                            "--labels", folder_ / "labels", "--simulate-night", "0.5"} +
                          more,
                      options);
  }
  CommandResult run(const std::string& out, const Words& more, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"run", folder_ / "images", "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--out",
                            folder_ / out, "--json", "--simulate-night", "0.5"} +
                          more,
                      options);
  }
  // The name and bytes of each picture in a folder.
  std::map<std::string, std::string> pictures(const std::string& name) const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_ / name))
      if (entry.path().extension() == ".png") found[entry.path().filename().string()] = readFile(entry.path());
    return found;
  }
};

TEST_F(Shards, AddUpToTheWhole) {
  Words combine = {"eval", "--json", "--combine"};
  std::set<std::string> seen;
  for (const std::string part : {"1", "2", "3"}) {
    const std::string lines = folder_ / (part + ".jsonl");
    const CommandResult result = succeeded(eval({"--json", "--shard", part + "/3", "--per-image", lines}));
    EXPECT_EQ(result.json()["shard"], part + "/3");
    combine.push_back(lines);
    for (const nlohmann::json& line : linesOf(lines)) EXPECT_TRUE(seen.insert(line["name"]).second) << line["name"];
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kImages));
  const CommandResult combined = succeeded(mpmCommand(combine));
  EXPECT_EQ(withoutTimes(combined.json()), withoutTimes(eval({"--json"}).json()));

  combine.pop_back();
  expectFailure(mpmCommand(combine), 1, {"shard 3/3 is missing"});
  std::ofstream(folder_ / "empty.jsonl").close();
  combine.push_back(folder_ / "empty.jsonl");
  const auto all = "\"of_images\":" + std::to_string(kImages);
  const std::size_t left = linesOf(combine[3]).size() + linesOf(combine[4]).size();
  expectFailure(mpmCommand(combine), 1,
                {"lines of " + std::to_string(left) + " of " + std::to_string(kImages) + " images", "--resume"});
  for (const std::size_t i : {3, 4}) {
    std::string text = readFile(combine[i]);
    for (std::size_t at = 0; (at = text.find(all, at)) != std::string::npos; ++at)
      text.replace(at, all.size(), "\"of_images\":" + std::to_string(left));
    std::ofstream(combine[i]) << text;
  }
  EXPECT_EQ(mpmCommand(combine).exit_code, 0) << "a shard without an image has no lines";
  combine.back() = combine[3];
  expectFailure(mpmCommand(combine), 1, {"of the same image"});
  ASSERT_EQ(eval({"--per-image", folder_ / "whole.jsonl"}).exit_code, 0);
  combine.back() = folder_ / "whole.jsonl";
  expectFailure(mpmCommand(combine), 1, {"whole.jsonl", "of the same image"});
}

TEST_F(Shards, OfSeveralFoldersAreComparedWithTheirFullModel) {
  const std::string both = folder_ / "both.jsonl", folder = "\"data\":\"" + (folder_ / "images");
  ASSERT_EQ(eval({"--reduce", "none", "--per-image", both}).exit_code, 0);
  const auto combined = [&] { return succeeded(mpmCommand({"eval", "--json", "--combine", both})).jsonLines(); };
  const auto before = combined();
  EXPECT_TRUE(before[0]["against_full"]["miou_loss"].is_number()) << before[0];
  std::string text = readFile(both);
  std::ofstream(both) << text.insert(text.find(folder) + folder.size(), "/of another machine");
  EXPECT_EQ(combined(), before);
}

TEST_F(Shards, AreTheSameInEveryFolder) {
  const auto namesOf = [](const CommandResult& result) {
    std::set<std::string> found;
    for (const nlohmann::json& line : result.jsonLines()) found.insert(line["name"]);
    return found;
  };
  const auto first = namesOf(run("a", {"--shard", "1/2"}));
  EXPECT_FALSE(first.empty());
  fs::rename(folder_ / "images", folder_ / "moved");
  fs::create_directory(folder_ / "images");
  for (const auto& entry : fs::directory_iterator(folder_ / "moved")) {
    if (const std::string stem = entry.path().stem().string(); first.contains(stem) || stem == "street_0")
      fs::rename(entry.path(), folder_ / "images" / entry.path().filename());
  }
  const auto again = namesOf(run("b", {"--shard", "1/2"}));
  EXPECT_EQ(again, first) << "other images and folders make no difference";
  run("b", {"--shard", "2/2"});
  for (const char* legend : {"legend-1-of-2.png", "legend-2-of-2.png"}) EXPECT_EQ(pictures("b").count(legend), 1u);
}

// The noise of a simulated night is that of an image, and stretches of a film are in the order of names.
TEST_F(Shards, ImagesThatAreAddedChangeNothingOfTheOthers) {
  const std::string log = folder_ / "log.jsonl";
  const auto of = [&](const Words& more) {
    std::vector<nlohmann::json> rows;
    for (nlohmann::json& row : succeeded(eval(Words{"--reduce", "none", "--json"} + more)).jsonLines()) {
      for (const char* times : {"speed_up", "speed_up_low", "speed_up_high"}) row["against_full"].erase(times);
      rows.push_back(withoutTimes(row));
    }
    return rows;
  };
  const std::vector<std::string> later = {"street_0.png", "street_1.png", "street_5.png"};
  for (const std::string& name : later) fs::rename(folder_ / ("images/" + name), folder_ / name);
  of({"--resume", log});
  for (const std::string& name : later) fs::rename(folder_ / name, folder_ / ("images/" + name));
  const auto whole = of({"--per-image", folder_ / "whole.jsonl"});
  EXPECT_EQ(of({"--resume", log}), whole);
  for (const nlohmann::json& line : linesOf(folder_ / "whole.jsonl")) EXPECT_FALSE(line.contains("index")) << line;
  std::map<std::string, nlohmann::json> tokens;  // of mpm run
  for (const nlohmann::json& line : run("a", {}).jsonLines()) tokens[line["name"]] = line["tokens"];
  for (const nlohmann::json& line : linesOf(log)) {
    if (line["reduce"] != "none") {
      EXPECT_EQ(line["tokens"], tokens.at(line["name"])) << "the same night for mpm run";
    }
  }
}

// mIoU of other images is no loss.
TEST_F(Shards, LossIsOfTheSameImagesOrNone) {
  const std::string log = folder_ / "log.jsonl";
  const auto measure = [&](const char* reduce, const char* images) {
    succeeded(mpmCommand({"eval", "--model", kSegmenter, "--images", folder_ / "images", "--labels", folder_ / "labels",
                          "--reduce", reduce, "--max-frames", images, "--resume", log}));
  };
  measure("none", "2");
  measure("mpm:blocks=1", "3");
  const auto loss = [&] {
    return mpmCommand({"eval", "--combine", log, "--json"}).jsonLines().back()["against_full"]["miou_loss"];
  };
  EXPECT_TRUE(loss().is_null());
  EXPECT_THAT(mpmCommand({"eval", "--combine", log}).out, HasSubstr("over 2 to 3 images"));
  measure("none", "3");
  EXPECT_TRUE(loss().is_number());
}

TEST_F(Shards, AKilledRunGoesOn) {
  ASSERT_EQ(run("whole", {}).exit_code, 0);
  const auto whole = pictures("whole");
  const CommandResult killed = run("parts", {"--resume"}, {.signal_after_first_line = SIGKILL});
  EXPECT_EQ(killed.exit_code, -1);
  const std::string manifest = folder_ / "parts/manifest.jsonl";
  const std::size_t before = linesOf(manifest).size() - 1;
  ASSERT_GE(before, 1u);
  ASSERT_LT(before, static_cast<std::size_t>(kImages));
  const auto bytes = fs::file_size(manifest);
  std::ofstream(manifest, std::ios::app) << "{\"frame\": 3, \"sou";  // the power went
  expectFailure(run("parts", {"--resume"}), 1, {"line " + std::to_string(before + 2), "is damaged"});
  fs::resize_file(manifest, bytes);

  const CommandResult rest = succeeded(run("parts", {"--resume"}));
  EXPECT_EQ(rest.jsonLines().size(), kImages - before) << "nothing is done twice";
  std::set<std::string> names;
  const std::vector<nlohmann::json> lines = linesOf(manifest);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_TRUE(names.insert(lines[i]["name"]).second);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kImages)) << "nothing is lost";
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines[i]["frame"], i - 1) << "as in one run";
  EXPECT_EQ(pictures("parts"), whole) << "the legend, too";

  EXPECT_EQ(run("parts", {"--resume"}).out, "");
  expectFailure(run("parts", {"--resume", "--maps"}), 1, {"is of other work", "'maps'", "false", "true"});
  expectFailure(run("parts", {"--resume", "--refine", "guided"}), 1, {"is of other work", "'refine'", "guided"});
  expectFailure(run("parts", {"--resume", "--time-zone", "+05:45"}), 1, {"is of other work", "'time_zone'", "+05:45"});
  std::ofstream(manifest, std::ios::app) << "{}\n";
  expectFailure(run("parts", {"--resume"}), 1, {"line 14", "is damaged"});
}

TEST_F(Shards, AKilledEvaluationGoesOn) {
  const nlohmann::json whole = withoutTimes(eval({"--json", "--per-image", folder_ / "whole.jsonl"}).json());
  const std::string manifest = folder_ / "manifest.jsonl";
  ASSERT_EQ(eval({"--resume", manifest}).exit_code, 0);
  // As if it had been killed after five images.
  const std::string text = readFile(manifest);
  std::size_t end = 0;
  for (int line = 0; line < 5; ++line) end = text.find('\n', end) + 1;
  fs::resize_file(manifest, end);
  expectFailure(eval({"--resume", manifest}, {.file_size_limit = end + 20}), 1, {"cannot write '" + manifest});
  EXPECT_EQ(fs::file_size(manifest), end) << "no line is left in part";

  const CommandResult rest = eval({"--json", "--resume", manifest, "--per-image", folder_ / "rest.jsonl"});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(withoutTimes(rest.json()), whole);
  EXPECT_EQ(readFile(folder_ / "rest.jsonl"), readFile(manifest));
  EXPECT_EQ(linesOf(manifest).size(), std::size_t{kImages});
  EXPECT_EQ(eval({"--json", "--resume", manifest, "--label-offset", "-1"}).json()["label_offset"], -1);
  EXPECT_EQ(linesOf(manifest).size(), std::size_t{2 * kImages}) << "other work adds to it";
  expectFailure(eval({"--resume", folder_ / "labels/street_0.png"}), 2, {"--resume would replace"});
  fs::copy_file(kSegmenter, folder_ / "model.onnx");
  const std::string model = readFile(folder_ / "model.onnx");
  expectFailure(eval({"--resume", folder_ / "model.onnx"}), 1, {"is not a manifest"});
  EXPECT_EQ(readFile(folder_ / "model.onnx"), model);
}

TEST_F(Shards, TheOrderOfKeysInTheirFilesMeansNothing) {
  const std::string log = folder_ / "log.jsonl", manifest = folder_ / "out/manifest.jsonl";
  const auto whole = withoutTimes(succeeded(eval({"--resume", log, "--json"})).json());
  succeeded(run("out", {"--resume"}));
  for (const std::string& path : {log, manifest}) {
    std::string sorted;
    for (const nlohmann::json& line : linesOf(path)) sorted += line.dump() + "\n";  // as jq -S writes them
    ASSERT_NE(sorted, readFile(path));
    std::ofstream(path) << sorted;
  }
  EXPECT_EQ(withoutTimes(succeeded(eval({"--resume", log, "--json"})).json()), whole);
  EXPECT_EQ(linesOf(log).size(), std::size_t{kImages});
  EXPECT_EQ(succeeded(run("out", {"--resume"})).out, "");
}

TEST_F(Shards, AnImageThatChangedIsDoneAgain) {
  const std::string log = folder_ / "log.jsonl", manifest = folder_ / "out/manifest.jsonl";
  const auto withoutImages = [](const std::string& path, const Words& images) {
    std::string kept;
    for (const std::string& line : CommandResult{.out = readFile(path)}.lines()) {
      if (std::ranges::none_of(images, [&](const std::string& name) {
            return line.find("\"name\":\"" + name + "\"") != std::string::npos;
          }))
        kept += line + "\n";
    }
    std::ofstream(path) << kept;
  };
  succeeded(eval({"--resume", log}));
  succeeded(run("out", {"--resume"}));
  cv::imwrite(folder_ / "labels/street_3.png", cv::Mat(40, 70, CV_8U, cv::Scalar(1)));
  const std::string before = readFile(log);
  expectFailure(eval({"--resume", log}), 1, {"line 6 of '" + log, "remove the lines of 'street_3', and"});
  EXPECT_EQ(run("out", {"--resume"}).out, "") << "label maps are nothing to it";
  writeImage(folder_ / "images/street_7.png", 40, 70, 99);
  expectFailure(eval({"--resume", log}), 1, {"line 6 of '" + log, "the lines of 'street_3', 'street_7', and"});
  EXPECT_EQ(readFile(log), before);
  expectFailure(run("out", {"--resume"}), 1, {"line 11 of", "is not of 'street_7' as it is now: remove that line"});
  withoutImages(log, {"street_3", "street_7"});
  withoutImages(manifest, {"street_7"});
  EXPECT_EQ(withoutTimes(succeeded(eval({"--resume", log, "--json"})).json()), withoutTimes(eval({"--json"}).json()));
  EXPECT_EQ(succeeded(run("out", {"--resume"})).jsonLines().size(), 1u);
  succeeded(run("whole", {}));
  EXPECT_EQ(pictures("out"), pictures("whole"));
}

TEST_F(Shards, LinesOfAPictureThatIsGoneAreRefused) {
  const std::string log = folder_ / "log.jsonl", image = folder_ / "images/street_3.png";
  succeeded(eval({"--resume", log}));
  fs::rename(image, folder_ / "elsewhere.png");
  for (const Words& more : {Words{}, {"--shard", "1/3"}, {"--shard", "2/3"}}) {
    expectFailure(eval(more + Words{"--resume", log}), 1,
                  {"line 6 of '" + log, "is none of the images: remove the lines of 'street_3', or put"});
  }
  fs::rename(folder_ / "elsewhere.png", image);
  EXPECT_EQ(succeeded(eval({"--resume", log, "--json"})).json()["images"], kImages);
}

TEST_F(Shards, WithoutAnImageHaveTheKeysOfOthers) {
  const auto keysOf = [&](const std::string& part, const Words& more) {
    std::vector<std::set<std::string>> keys;
    for (const nlohmann::json& line : succeeded(mpmCommand(more + Words{"--json", "--shard", part})).jsonLines()) {
      auto& of = keys.emplace_back();
      for (const auto& [key, value] : line.items()) of.insert(key);
    }
    return keys;
  };
  for (const std::string name : {"images", "labels"})
    for (int i = 1; i < kImages; ++i) fs::remove(folder_ / (name + "/street_" + std::to_string(i) + ".png"));
  const Words labels = {"--images", folder_ / "images", "--labels", folder_ / "labels"};
  for (const Words& data : {labels, Words{folder_ / "images", "--against", "full", "--reduce", "mpm:blocks=2"}}) {
    const Words both = Words{"eval", "--model", kSegmenter, "--reduce", "mpm:blocks=1"} + data;
    EXPECT_EQ(keysOf("1/2", both), keysOf("2/2", both)) << "one of the two has the image";
  }
}

// File names may hold anything. These two differ in a byte that is not UTF-8.
TEST_F(Shards, NamesNeedNotBeUtf8) {
  const std::string log = folder_ / "log.jsonl";
  for (const auto& [before, after] : {std::pair("street_2.png", "caf\xe8.png"), {"street_3.png", "caf\xe9.png"}}) {
    for (const char* part : {"images/", "labels/"})
      fs::rename(folder_ / (std::string(part) + before), folder_ / (std::string(part) + after));
  }
  const auto whole = withoutTimes(succeeded(eval({"--json"})).json());
  EXPECT_EQ(whole["images"], kImages);
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(withoutTimes(succeeded(eval({"--json", "--resume", log})).json()), whole) << time;
  EXPECT_EQ(linesOf(log).size(), std::size_t{kImages});
  EXPECT_EQ(withoutTimes(succeeded(mpmCommand({"eval", "--json", "--combine", log})).json()), whole);
  EXPECT_EQ(succeeded(run("out", {"--resume"})).jsonLines().size(), std::size_t{kImages});
  EXPECT_EQ(succeeded(run("out", {"--resume"})).out, "");
  EXPECT_EQ(pictures("out").count("caf\xe9_labels.png"), 1u);
  fs::copy_file(folder_ / "images/caf\xe9.png", folder_ / "images/caf\\xe9.png");
  expectFailure(run("out", {"--resume"}), 2, {"different names"});
}

// The images of a folder are a film, whatever the folders are called, and wherever another machine has them.
TEST_F(Shards, FoldersOfOneNameAreFilmsOfTheirOwn) {
  Words files, shards;
  for (int i = 0; i < kImages; ++i) {
    const std::string camera = std::to_string(i % 6), name = "street_" + std::to_string(i) + ".png";
    for (const std::string part : {"images", "labels"}) {
      fs::create_directories(folder_ / (camera + "/v/" + part));
      fs::rename(folder_ / (part + "/" + name), folder_ / (camera + "/v/" + part + "/" + name));
    }
  }
  const Words night = {"--model", kSegmenter, "--reduce", "mpm:blocks=1", "--simulate-night", "0.3"};
  for (int camera = 0; camera < 6; ++camera) {
    const std::string data = folder_ / (std::to_string(camera) + "/v/");
    files.push_back(folder_ / (std::to_string(camera) + ".jsonl"));
    succeeded(mpmCommand(
        Words{"eval", "--images", data + "images", "--labels", data + "labels", "--day", "--per-image", files.back()} +
        night));
  }
  const auto combined = succeeded(mpmCommand(Words{"eval", "--json", "--combine"} + files)).jsonLines();
  EXPECT_EQ(combined[1]["minus_day"]["blocks"], 6);
  for (const nlohmann::json& line : linesOf(files.front()))
    EXPECT_THAT(line["film"].get<std::string>(), ::testing::MatchesRegex("v/images [0-9a-f]+")) << "not the whole path";
  const auto blocks = [&](const std::string& pattern) {
    return succeeded(mpmCommand(Words{"daynight", pattern, "--json"} + night))
        .jsonLines()
        .back()["minus_day"]["blocks"];
  };
  EXPECT_EQ(blocks(folder_ / "[0-5]/v/images/*.png"), 6);
  EXPECT_EQ(blocks(folder_ / "0/v/images"), 2) << "a film of two images";

  fs::create_directories(folder_ / "elsewhere");
  std::map<std::string, std::set<std::string>> machines_of_film;
  for (const std::string part : {"1", "2"}) {
    const std::string lines = folder_ / ("shard" + part + ".jsonl"), root = part == "1" ? "" : "elsewhere/";
    if (part == "2") {
      for (int camera = 0; camera < 6; ++camera)
        fs::rename(folder_ / std::to_string(camera), folder_ / (root + std::to_string(camera)));
    }
    succeeded(mpmCommand(Words{"eval", folder_ / (root + "[0-5]/v/images/*.png"), "--against", "full", "--shard",
                               part + "/2", "--per-image", lines} +
                         night));
    shards.push_back(lines);
    for (const nlohmann::json& line : linesOf(lines)) machines_of_film[line["film"]].insert(part);
  }
  EXPECT_EQ(machines_of_film.size(), 6u);
  EXPECT_THAT(machines_of_film, ::testing::Contains(::testing::Pair("3/v/images", ::testing::_)));
  succeeded(mpmCommand(Words{"eval", "--combine"} + shards));
}

TEST_F(Shards, ResultsOfOtherSettingsHaveOtherNames) {
  Words combine = {"eval", "--combine"};
  for (const Words& more :
       {Words{}, Words{"--simulate-night", "0.1"}, Words{"--simulate-night", "0.3"}, Words{"--fit", "window:stride=16"},
        Words{"--fit", "window"}, Words{"--ignore", "1"}, Words{"--label-offset", "-1"}}) {
    combine.push_back(folder_ / (std::to_string(combine.size()) + ".jsonl"));
    succeeded(mpmCommand(Words{"eval", "--model", kSegmenter, "--reduce", "none", "--images", folder_ / "images",
                               "--labels", folder_ / "labels", "--max-frames", "1", "--per-image", combine.back()} +
                         more));
  }
  std::set<std::string> names;
  for (const std::string& line : succeeded(mpmCommand(combine)).lines()) {
    if (line.starts_with("none ") && line.find(": more tokens") == std::string::npos)
      names.insert(line.substr(0, line.find("  ")));
  }
  EXPECT_EQ(names.size(), 7u) << ::testing::PrintToString(names);
}

// A result is of the images that were asked for, whatever else the file holds.
TEST_F(Shards, AResultIsOfTheImagesThatWereAskedFor) {
  const std::string log = folder_ / "log.jsonl";
  succeeded(eval({"--resume", log}));
  for (const Words& part : {Words{"--max-frames", "3"}, Words{"--shard", "1/2"}}) {
    const auto own = succeeded(eval(part + Words{"--json"})).json();
    ASSERT_LT(own["images"], kImages);
    EXPECT_EQ(withoutTimes(succeeded(eval(part + Words{"--json", "--resume", log})).json()), withoutTimes(own));
  }
  EXPECT_EQ(linesOf(log).size(), std::size_t{kImages});
}

TEST_F(Shards, AnotherSpellingOfAFolderIsNoOtherFolder) {
  const std::string log = folder_ / "log.jsonl", again = folder_ / "again.jsonl";
  const Words more = {"--reduce", "none", "--json"},
              slashes = {"--images", folder_ / "images/", "--labels", folder_ / "labels/"};
  const auto measure = [&](const Words& options) {
    return succeeded(mpmCommand(Words{"eval", "--model", kSegmenter, "--reduce", "mpm:blocks=1,2"} + options));
  };
  measure(slashes + Words{"--resume", log});
  const auto lossIn = [](const CommandResult& result) { return result.jsonLines().at(0)["against_full"]["miou_loss"]; };
  const auto loss = lossIn(measure(slashes + more));
  ASSERT_TRUE(loss.is_number());
  const Words plain = {"--images", folder_ / "images", "--labels", folder_ / "labels"};
  EXPECT_EQ(lossIn(measure(plain + more + Words{"--resume", log})), loss);
  EXPECT_EQ(linesOf(log).size(), std::size_t{2 * kImages});
  for (const auto& line : linesOf(log)) EXPECT_EQ(line["data"], folder_ / "images/");
  measure(plain + Words{"--per-image", again});
  expectFailure(mpmCommand({"eval", "--combine", log, again}), 1, {"again.jsonl", "of the same image"});
}

TEST_F(Shards, TheOrderOfIgnoredLabelsMeansNothing) {
  const std::string one = folder_ / "one.jsonl", two = folder_ / "two.jsonl";
  succeeded(eval({"--ignore", "255", "--ignore", "3", "--shard", "1/2", "--resume", one}));
  succeeded(eval({"--ignore", "3", "--ignore", "255", "--ignore", "3", "--shard", "2/2", "--resume", two}));
  EXPECT_EQ(succeeded(mpmCommand({"eval", "--json", "--combine", one, two})).json()["images"], kImages);
}

TEST_F(Shards, AShardOfSeveralDataSetsIsNotCutOff) {
  for (const std::string part : {"images", "labels"}) {
    fs::create_directories(folder_ / ("other/" + part));
    for (int i = 0; i < 5; ++i) {
      const std::string name = part + "/street_" + std::to_string(i) + ".png";
      fs::copy_file(folder_ / name, folder_ / ("other/" + name));
      if (part == "images") writeImage(folder_ / ("other/" + name), 40, 70, 50 + i);
    }
  }
  Words combine = {"eval", "--json", "--combine"};
  for (const std::string part : {"1", "2"}) {
    const std::string lines = folder_ / (part + ".jsonl");
    combine.push_back(lines);
    for (const std::string& data : {folder_ / "", folder_ / "other/"}) {
      succeeded(mpmCommand({"eval", "--model", kSegmenter, "--reduce", "none", "--images", data + "images", "--labels",
                            data + "labels", "--shard", part + "/2", "--resume", lines}));
    }
  }
  EXPECT_EQ(succeeded(mpmCommand(combine)).json()["images"], kImages + 5);
  const std::string text = readFile(combine.back());
  fs::resize_file(combine.back(), text.rfind('\n', text.size() - 2) + 1);
  expectFailure(mpmCommand(combine), 1, {"lines of 16 of 17 images", "--resume"});
}

TEST_F(Shards, OnlyOneProcessHasAManifest) {
  const std::string manifest = folder_ / "manifest.jsonl";
  std::ofstream(manifest).close();
  const int held = ::open(manifest.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  expectFailure(eval({"--resume", manifest}), 1, {"another process"});
  ::close(held);
}

TEST_F(Shards, NeedNamedImages) {
  for (const char* text : {"0/2", "3/2", "2", "1/0", "a/2", "1/2x", "-1/2"})
    expectFailure(eval({"--shard", text}), 2, {"is not I/N"});
  expectFailure(mpmCommand({"run", "demo:street", "--model", kSegmenter, "--shard", "1/2"}), 2,
                {"--shard needs images, a folder or a glob"});
  expectFailure(mpmCommand({"run", folder_ / "images", "--model", kSegmenter, "--resume"}), 2, {"--out DIR"});
  expectFailure(mpmCommand({"eval", "--combine", "a.jsonl", "--images", folder_ / "images"}), 2, {"excludes"});
  writeImage(folder_ / "images/street_0.jpg", 40, 70);
  expectFailure(run("out", {"--resume"}), 2, {"different names", "street_0.jpg", "street_0.png"});
}

}  // namespace
}  // namespace mpm::test
