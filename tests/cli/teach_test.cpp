// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "onnx/graph_builder.h"
#include "vision/labels/labelled_picture.h"
#include "vision/sources/source.h"

namespace mpm::test {
namespace {

using ::testing::ContainsRegex;

// The classes of the street by other names, and fewer.
const Words kNames = {"air", "stone", "ground", "green", "things"};
constexpr int kClassOfStreet[] = {0, 1, 2, 2, 3, 1, 4, 4, 4};
const Words kSmallModel = {"--model", std::string(MPM_TEST_DATA_DIR) + "/timm_vit_ts17.onnx"};  // is taught fast
const std::string kStreet = "demo:street?seed=3&size=240x320&weather=auto";

class Teach : public InFolder {
 protected:
  void SetUp() override {
    writeClasses(kNames);
    for (const char* folder : {"train/images", "train/labels", "test/images", "test/labels"})
      fs::create_directories(folder_ / folder);
  }

  void writeClasses(const Words& names) const {
    nlohmann::json classes = nlohmann::json::array();
    for (const std::string& name : names) classes.push_back({{"name", name}});
    std::ofstream(classes_) << nlohmann::json{{"classes", classes}, {"ignore", 255}};
  }

  // Frames of a fixed camera, with labels of which a part is left out: only every third column.
  void writeStreet(const std::string& part, const std::string& when, int frames, bool strokes) const {
    const auto source = vision::openSource(kStreet + "&" + when + "&frames=" + std::to_string(frames));
    while (const auto frame = source->next()) {
      cv::Mat labels = frame->labels.clone();
      for (int y = 0; y < labels.rows; ++y) {
        for (int x = 0; x < labels.cols; ++x) {
          uchar& label = labels.at<uchar>(y, x);
          label = strokes && x % 3 != 0 ? 255 : static_cast<uchar>(kClassOfStreet[label]);
        }
      }
      cv::imwrite(folder_ / (part + "/images/" + frame->name + ".png"), frame->image);
      cv::imwrite(folder_ / (part + "/labels/" + frame->name + ".png"), labels);
    }
  }

  CommandResult teach(const Words& more = {}, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"teach", "--images", folder_ / "train/images", "--labels", folder_ / "train/labels",
                            "--classes", classes_, "-o", mine_} +
                          more,
                      options);
  }

  // What is wrong is said in one line, and nothing is written.
  void expectRefusal(const Words& more, int exit_code, const Words& parts) const {
    expectFailure(teach(more), exit_code, parts);
    EXPECT_FALSE(fs::exists(mine_));
    EXPECT_FALSE(fs::exists(folder_ / "mine.json"));
  }

  void writeFlat(const std::string& name, int lower = 0, int upper = 1) const {
    cv::imwrite(folder_ / ("train/images/" + name + ".png"), cv::Mat(48, 64, CV_8UC3, cv::Scalar(10, 90, 200)));
    cv::Mat map(48, 64, CV_8U, cv::Scalar(lower));
    map.rowRange(0, 24).setTo(upper);
    cv::imwrite(folder_ / ("train/labels/" + name + ".png"), map);
  }

  const std::string classes_ = folder_ / "classes.json", mine_ = folder_ / "mine.onnx";
};

// Four frames of a day, strokes on them, and the model knows the camera at other hours of other days.
TEST_F(Teach, FourFramesOfACameraMakeAModelOfIt) {
  writeStreet("train", "start=2026-06-20T05:00&step=21600", 4, true);
  writeStreet("test", "start=2026-07-09T02:30&step=25200", 6, false);
  const auto lines = succeeded(teach({"--reduce", "mpm:blocks=2", "--steps", "60", "--json"})).jsonLines();
  EXPECT_EQ(lines[lines.size() - 2], nlohmann::json({{"progress", 1.0}}));
  const nlohmann::json& report = lines.back();
  EXPECT_EQ(report["model"], mine_);
  EXPECT_EQ(report["pictures"], 4);
  EXPECT_EQ(report["cross_validation"]["rounds"], 4);
  EXPECT_GT(report["cross_validation"]["miou"], 50);
  EXPECT_EQ(report["cross_validation"]["confusion"].size(), kNames.size());

  const auto info = mpmCommand({"info", mine_, "--json"}).json();
  EXPECT_EQ(info["reduce"], "mpm:blocks=2") << "the schedule that it was trained with";
  const auto eval = [&](const Words& more) {
    return succeeded(mpmCommand(Words{"eval", "--model", mine_, "--images", folder_ / "test/images", "--labels",
                                      folder_ / "test/labels", "--json"} +
                                more))
        .json();
  };
  const auto scores = eval({});
  EXPECT_EQ(scores["reduce"], "mpm:blocks=2");
  EXPECT_GT(scores["pixel_accuracy"], 85) << scores;
  for (const std::string& name : kNames) EXPECT_GT(scores["iou"][name], 30) << name << ' ' << scores["iou"];
  EXPECT_EQ(eval({"--reduce", "none", "--max-frames", "1"})["reduce"], "none") << "unless another one is named";
  succeeded(mpmCommand({"convert", mine_, "-o", folder_ / "fast.onnx"}));
  EXPECT_EQ(mpmCommand({"info", folder_ / "fast.onnx", "--json"}).json()["reduce"], "mpm:blocks=2");
}

TEST_F(Teach, NamesAPolicyNetworkByItsWholePath) {
  writeClasses({"air", "stone"});
  writeFlat("a");
  const std::string policy = folder_ / "policy.onnx", spec = "cts:policy=" + fs::relative(policy).string();
  saveMeanPolicy(policy, 32);
  succeeded(teach({"--reduce", spec, "--steps", "5"}));
  const auto facts = nlohmann::json::parse(std::ifstream(folder_ / "mine.json"));
  EXPECT_EQ(facts["reduce"], "cts:policy=" + (fs::current_path() / fs::relative(policy)).string());
  EXPECT_EQ(mpmCommand({"info", mine_}).exit_code, 0);
}

TEST_F(Teach, SaysWhatIsGoodAndWhatNeedsLabels) {
  writeFlat("a");
  writeFlat("b");
  fs::remove(folder_ / "train/labels/b.png");
  std::ofstream(folder_ / "train/labels/b.json") << R"({"imageHeight": 48, "imageWidth": 64, "shapes": [
      {"label": "high", "shape_type": "rectangle", "points": [[0, 0], [63, 23]]},
      {"label": "low", "shape_type": "rectangle", "points": [[0, 24], [63, 47]]}]})";
  writeFlat("c", 2, 255);
  writeClasses({"low", "high", "rare"});
  const CommandResult result = succeeded(teach(kSmallModel + Words{"--steps", "20"}));
  EXPECT_THAT(result.out, AllOf(HasSubstr("class "), HasSubstr("mIoU "), HasSubstr("in 3 rounds")));
  EXPECT_THAT(result.out, HasSubstr("not tested, label them in more pictures: rare"));
  EXPECT_EQ(result.lines().back(), mine_);
  const CommandResult untested =
      teach(kSmallModel + Words{"--steps", "5", "--no-cross-validation"}, {.stderr_is_terminal = true});
  EXPECT_EQ(untested.out, mine_ + "\n");
  EXPECT_THAT(untested.err, ContainsRegex("1 of [0-9]+  ")) << "of the steps until the end";
  fs::remove(folder_ / "train/labels/b.json");
  fs::remove(folder_ / "train/labels/c.png");
  writeClasses({"low", "high"});
  const CommandResult single = teach(kSmallModel + Words{"--steps", "5", "--threads", "4096"});
  EXPECT_THAT(single.out, HasSubstr("one picture is labelled: a cross-validation needs at least two"));
  EXPECT_THAT(single.err, HasSubstr("--threads 4096 is more than the CPUs"));
}

// It is killed, then interrupted, in the middle of its work, then the disk is full. In each part of the work:
// Teaching.StopsInEachPartOfTheWork.
TEST_F(Teach, ModelAndJsonChangeTogether) {
  writeFlat("a");
  writeClasses({"low", "high"});
  const Words brief = kSmallModel + Words{"--steps", "5"}, endless = kSmallModel + Words{"--steps", "100000", "--json"};
  ASSERT_EQ(teach(brief).exit_code, 0);
  const std::string model = readFile(mine_), json = readFile(folder_ / "mine.json");
  const auto before = filesIn(folder_.path());
  const auto expectNothingNew = [&] {
    EXPECT_EQ(readFile(mine_), model);
    EXPECT_EQ(readFile(folder_ / "mine.json"), json);
    EXPECT_EQ(filesIn(folder_.path()), before);
  };
  EXPECT_EQ(teach(endless, {.signal_after_first_line = SIGKILL}).exit_code, -1);
  expectNothingNew();
  const CommandResult stopped = teach(endless, {.signal_after_first_line = SIGINT});
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("nothing is written"));
  expectNothingNew();
  writeClasses({"low", "top"});
  expectFailure(teach(brief, {.file_size_limit = model.size() / 2}), 1, {"cannot write", "mine.onnx"});
  expectNothingNew();

  // As after a kill between the two files.
  ASSERT_EQ(teach(brief).exit_code, 0);
  EXPECT_EQ(mpmCommand({"info", mine_}).exit_code, 0);
  std::ofstream(mine_, std::ios::binary) << model;
  expectFailure(mpmCommand({"info", mine_}), 1, {"mine.json", "written with another 'mine.onnx'", "Train again"});
  std::ofstream(folder_ / "mine.json") << json;
  EXPECT_EQ(mpmCommand({"info", mine_}).exit_code, 0) << "both are old";
  fs::remove(folder_ / "mine.json");
  EXPECT_EQ(mpmCommand({"info", mine_}).exit_code, 0) << "a model alone";

  // A taught model is taught again: one id, the new one.
  std::ofstream(folder_ / "mine.json") << json;
  fs::rename(mine_, folder_ / "first.onnx");
  fs::rename(folder_ / "mine.json", folder_ / "first.json");
  ASSERT_EQ(teach({"--steps", "5", "--model", folder_ / "first.onnx"}).exit_code, 0);
  EXPECT_EQ(mpmCommand({"info", mine_}).exit_code, 0);
}

// The message arrives; the refusals themselves are tested in vision and evaluation.
TEST_F(Teach, RefusesWhatMakesNoSense) {
  writeClasses({"low", "high"});
  expectRefusal(kSmallModel, 1, {"train/images", "no image"});
  writeFlat("a", 0, 7);
  expectRefusal(kSmallModel, 1, {"a.png", "label 7", "2 classes"});
  writeFlat("a");
  expectRefusal(kSmallModel + Words{"--reduce", "mpm:blocks=40"}, 1, {"block 40 does not exist"});
  writeClasses({"low"});
  expectRefusal(kSmallModel, 1, {"fewer than two classes"});
  expectFailure(mpmCommand({"teach", "--images", "a", "--labels", "b"}), 2, {"--out is required"});
}

// A program alone: nothing beside it and nothing in PATH.
TEST_F(Teach, NeedsNoOtherProgram) {
  fs::copy_file(std::string(MPM_BINARY_DIR) + "/mpm", folder_ / "mpm");
  writeFlat("a");
  writeClasses({"low", "high"});
  const CommandOptions alone = {
      .program = fs::relative(folder_ / "mpm", MPM_BINARY_DIR).string(),
      .environment = {{"LD_LIBRARY_PATH", fs::path(MPM_LIBRARY).parent_path().string()}, {"PATH", "/nowhere"}}};
  succeeded(teach(kSmallModel + Words{"--steps", "3", "--threads", "1"}, alone));
}

// Four pictures of CamVid's validation, every 25th, against the other 97: the nine classes that the street has too.
TEST_F(Teach, CamVidFromFourPictures) {
  const fs::path data = fs::path(MPM_SHARED_DIR) / "data/camvid_val";
  if (!fs::is_directory(data)) GTEST_SKIP() << "no CamVid in " << data << " (set MPM_SHARED_DIR)";
  writeClasses({"Sky", "Building", "Pole", "Road", "Pavement", "Tree", "Car", "Pedestrian", "Bicyclist"});
  constexpr int kClass[] = {0, 1, 2, 3, 4, 5, 255, 255, 6, 7, 8, 255};  // no SignSymbol, no Fence
  int index = 0;
  for (const std::string& file : vision::sourceFiles(vision::parseSourceSpec((data / "images").string()))) {
    const std::string part = index++ % 25 == 0 && index < 77 ? "train" : "test", name = fs::path(file).stem().string();
    fs::create_symlink(file, folder_ / (part + "/images/" + name + ".png"));
    cv::Mat labels = vision::readLabelMap((data / "labels" / (name + ".png")).string());
    for (int y = 0; y < labels.rows; ++y)
      for (int x = 0; x < labels.cols; ++x) labels.at<uchar>(y, x) = static_cast<uchar>(kClass[labels.at<uchar>(y, x)]);
    cv::imwrite(folder_ / (part + "/labels/" + name + ".png"), labels);
  }
  succeeded(teach({"--no-cross-validation"}));
  const CommandResult scores = succeeded(mpmCommand(
      {"eval", "--model", mine_, "--images", folder_ / "test/images", "--labels", folder_ / "test/labels", "--json"}));
  EXPECT_EQ(scores.json()["images"], 97);
  EXPECT_GE(scores.json()["miou"], 71);
  EXPECT_GE(scores.json()["pixel_accuracy"], 94);
}

// States from examples in folders to the report of a watch.
const std::string kModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";

class TeachStates : public InFolder {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "regions.json")
        << R"({"regions": [{"name": "gate", "width": 96, "height": 64, "polygons": [[[0, 0], [47, 0], [47, 63], [0, 63]]]}]})";
    for (int day = 1; day <= 4; ++day) {
      for (const char* state : {"open", "closed"})
        write("examples/" + std::string(state), day, 10, state == std::string("open"));
    }
  }

  // Stripes at the left where the gate is open, noise everywhere.
  void write(const std::string& folder, int day, int hour, bool open) const {
    fs::create_directories(folder_ / folder);
    cv::Mat picture(64, 96, CV_8UC3);
    cv::RNG(static_cast<std::uint64_t>(day * 100 + hour)).fill(picture, cv::RNG::UNIFORM, 60, 120);
    for (int x = 0; open && x < 48; x += 8) picture.colRange(x, x + 4) += cv::Scalar(120, 120, 0);
    char name[64];
    std::snprintf(name, sizeof name, "/cam_202603%02d_%02d%02d00.png", day, hour, open ? 30 : 0);
    cv::imwrite(folder_ / (folder + name), picture);
  }

  CommandResult teach(const Words& more = {}) const {
    return mpmCommand(Words{"teach", "--states", folder_ / "examples", "--model", kModel, "-o", gate_} + more);
  }

  const std::string gate_ = folder_ / "gate.json";
};

// What a report makes of the states: the worlds of cameras (tests/worlds).
TEST_F(TeachStates, AWatchStoresWhatWasTaught) {
  const CommandResult taught = teach({"--regions", folder_ / "regions.json", "--region", "gate", "--time-zone", "Z"});
  ASSERT_EQ(taught.exit_code, 0) << taught.err;
  EXPECT_THAT(taught.out,
              HasSubstr("100.0 % of 8 answers are right, each on a day that the training did not see (4 rounds)"));
  EXPECT_THAT(taught.out, Not(HasSubstr("wrong")));
  EXPECT_EQ(taught.lines().back(), gate_);
  for (int day = 5; day <= 8; ++day)
    for (int hour = 8; hour < 12; ++hour) write("watched", day, hour, day % 2 == 0);
  const std::string database = folder_ / "a.db";
  const CommandResult watched = succeeded(
      mpmCommand({"monitor", folder_ / "watched", "--model", kModel, "--db", database, "--states", gate_, "--time-zone",
                  "Z", "--state-after", "2", "--alarm", "gate=open", "--alarm", "gate=closed", "--json"}));
  int alarms = 0, samples = 0;
  for (const auto& line : watched.jsonLines()) {
    if (line.contains("event")) alarms += line["event"] == "alarm";
    if (!line.contains("states")) continue;
    samples += line["states"]["gate"]["state"] == (line["time"].get<std::string>()[9] % 2 == 0 ? "open" : "closed");
  }
  EXPECT_EQ(alarms, 4) << "each state twice";
  EXPECT_EQ(samples, 16);
  succeeded(mpmCommand({"report", database, "--chart", folder_ / "a.png"}));
  expectFailure(mpmCommand({"monitor", folder_ / "watched", "--db", folder_ / "fresh.db", "--states", gate_}), 2,
                {"reads the tokens of another model"});
  const CommandResult service =
      succeeded(mpmCommand({"monitor", folder_ / "watched", "--db", folder_ / "fresh.db", "--states", gate_},
                           {.environment = {{"NOTIFY_SOCKET", "none"}}}));
  EXPECT_THAT(service.err, HasSubstr("the states of 'gate' are not read: they were taught with another model"))
      << "after a new model it starts, too";
  expectFailure(mpmCommand({"monitor", folder_ / "watched", "--model", kModel, "--db", database, "--states", gate_,
                            "--alarm", "gate=ajar"}),
                2, {"'gate' has no state 'ajar'"});
}

TEST_F(TeachStates, ShowsTheExamplesThatItGetsWrong) {
  write("examples/closed", 9, 10, true);
  const CommandResult taught = succeeded(teach({"--json"}));
  const auto result = taught.jsonLines().back();
  ASSERT_EQ(taught.jsonLines().size(), 10u) << "one for each example";
  EXPECT_EQ(taught.jsonLines()[2]["progress"], 3.0 / 9);
  EXPECT_EQ(result["wrong_pictures"], folder_ / "gate_wrong.jpg");
  EXPECT_FALSE(cv::imread(folder_ / "gate_wrong.jpg").empty());
  EXPECT_LT(result["cross_validation"]["right"], 1);
  EXPECT_EQ(result["contradicting_pictures"], folder_ / "gate_contradictions.jpg");
  EXPECT_EQ(cv::imread(folder_ / "gate_contradictions.jpg").cols, 2 * 320 + 8) << "side by side";
  ASSERT_EQ(result["cross_validation"]["contradictions"].size(), 1u) << result;
  const auto& contradiction = result["cross_validation"]["contradictions"][0];
  EXPECT_THAT(contradiction["picture"].get<std::string>(), HasSubstr("closed/cam_20260309_103000.png"));
  EXPECT_EQ(contradiction["like_state"], "open");
  const std::string text = teach().out;
  EXPECT_THAT(text, HasSubstr("cam_20260309_103000.png is closed, taken for open ("));
  EXPECT_THAT(text, HasSubstr("cam_20260309_103000.png is closed, but looks most like "));
  const double limit = nlohmann::json::parse(readFile(gate_))["sure"];
  const auto isRight = [](const nlohmann::json& one) { return one["given"] == one["state"]; };
  for (const char* state : {"closed", "open"}) {
    std::vector<nlohmann::json> all, sure;
    for (const auto& one : result["cross_validation"]["answers"]) {
      if (one["state"] != state) continue;
      all.push_back(one);
      if (one["probability"] >= limit) sure.push_back(one);
    }
    const auto percent = [](auto part, const auto& of) { return " +" + fixed(100.0 * part / of.size(), 1); };
    EXPECT_THAT(text, ContainsRegex(std::string("\n") + state + " +" + std::to_string(all.size()) +
                                    percent(std::ranges::count_if(all, isRight), all) + percent(sure.size(), all) +
                                    percent(std::ranges::count_if(sure, isRight), sure) + "\n"));
  }
  EXPECT_THAT(text, HasSubstr("sure on " + fixed(100 * result["cross_validation"]["sure"].get<double>(), 1) +
                              " %, from a probability of " + fixed(limit, 3) + " on; of these " +
                              fixed(100 * result["cross_validation"]["sure_right"].get<double>(), 1) + " % are right"));
  EXPECT_THAT(text, HasSubstr("gate_wrong.jpg shows the wrong answers\n"));
  EXPECT_THAT(text, HasSubstr("gate_contradictions.jpg shows the contradictions\n"));
  fs::remove(folder_ / "examples/closed/cam_20260309_103000.png");
  EXPECT_EQ(teach().exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "gate_wrong.jpg")) << "of an older verdict";
  EXPECT_FALSE(fs::exists(folder_ / "gate_contradictions.jpg"));
}

TEST_F(TeachStates, OneDayIsSaidToBeTooGood) {
  for (const char* state : {"open", "closed"}) {
    fs::remove_all(folder_ / ("examples/" + std::string(state)));
    for (int hour = 8; hour < 12; ++hour)
      write("examples/" + std::string(state), 1, hour, state == std::string("open"));
  }
  const CommandResult taught = teach();
  EXPECT_THAT(taught.out, HasSubstr("too good, perhaps: all pictures are of one day, so no day could be held out"));
}

TEST_F(TeachStates, WhatIsWrongIsOneLine) {
  expectFailure(teach({"--region", "gate"}), 2, {"--region needs --regions FILE"});
  expectFailure(teach({"--regions", folder_ / "regions.json", "--region", "door"}), 2,
                {"has no region 'door', but gate"});
  expectFailure(teach({"--images", "a"}), 2, {"--images"});
  const std::string list = folder_ / "list.json";
  std::ofstream(list) << R"([{"picture": "examples/open/cam_20260301_103000.png", "state": "open"},)"
                      << R"({"picture": "examples/closed/cam_20260301_100000.png", "state": "closed"}])";
  expectFailure(mpmCommand({"teach", "--states", list, "--model", kModel, "-o", list}), 2, {"-o", list});
  fs::remove_all(folder_ / "examples/closed");
  expectFailure(teach(), 1, {"fewer than two states"});
  expectFailure(mpmCommand({"teach", "-o", gate_}), 2, {"--images is required"});
  EXPECT_FALSE(fs::exists(gate_));
  std::ofstream(fs::path(gate_).replace_extension(".onnx")) << "another model";
  expectFailure(teach(), 1, {"'" + gate_ + "' is the JSON of the model '" + folder_ / "gate.onnx"});
  EXPECT_FALSE(fs::exists(gate_));
}

}  // namespace
}  // namespace mpm::test
