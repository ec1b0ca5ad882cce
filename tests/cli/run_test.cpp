// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "mpm/mpm.hpp"
#include "support/demo.h"
#include "support/onnx_file.h"
#include "support/video.h"
#include "vision/model_files.h"

namespace mpm::test {
namespace {

using RunCommand = InFolder;

/// All that stderr has of a run without faults: the model of these tests has no JSON.
constexpr const char* kNoted =
    "assumed: mean and std 0.5, because no JSON of the model 'segmenter_mask_ts17' says them. Write \"mean\" and "
    "\"std\" "
    "into its JSON (docs/converter.md)\n";

CommandResult run(const Words& more, const CommandOptions& options = {}) {
  return mpmCommand(Words{"run"} + more + Words{"--model", kSegmenter, "--reduce", "mpm:blocks=1,2"}, options);
}

TEST_F(RunCommand, PrintsOneJsonObjectPerFrame) {
  for (int i = 0; i < 3; ++i) writeImage(folder_ / ("street" + std::to_string(i) + ".png"), 40, 60, i);
  const CommandResult result = succeeded(run({folder_.path(), "--json"}));
  EXPECT_EQ(result.err, kNoted);
  const auto frames = result.jsonLines();
  ASSERT_EQ(frames.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const auto& frame = frames[i];
    EXPECT_EQ(frame["frame"], i);
    EXPECT_EQ(frame["source"], folder_ / ("street" + std::to_string(i) + ".png"));
    EXPECT_EQ(frame["name"], "street" + std::to_string(i));
    for (const char* unknown : {"time", "film", "night", "sun_elevation", "outputs"})
      EXPECT_FALSE(frame.contains(unknown));
    EXPECT_EQ(frame["classes"].size(), 4u) << "those that do not occur, too";
    ASSERT_EQ(frame["tokens"].size(), 3u);
    EXPECT_EQ(frame["tokens"][0], 32);
    EXPECT_LT(frame["tokens"][1], 32);
    double area = 0;
    for (const auto& [name, share] : frame["classes"].items()) {
      EXPECT_THAT(name, StartsWith("class_"));
      area += share.get<double>();
    }
    EXPECT_NEAR(area, 1, 1e-9);
    double sum = 0;
    for (const char* stage : {"preprocess", "backbone", "merge", "restore", "head", "postprocess"})
      sum += frame["ms"][stage].get<double>();
    EXPECT_LE(sum, frame["ms"]["total"].get<double>() + 0.01) << "stages do not overlap";
    EXPECT_EQ(frame["ms"].size(), 7u);
  }
}

TEST_F(RunCommand, WritesLabelsOverlayAndMergeMap) {
  writeImage(folder_ / "a.png", 45, 61);
  const CommandResult result = succeeded(run({folder_ / "a.png", "--out", folder_ / "made/here"}));
  EXPECT_THAT(result.out, AllOf(HasSubstr("tokens 32 -> "), HasSubstr(" ms")));
  EXPECT_THAT(result.err, HasSubstr("3 pictures and legend.png in " + (folder_ / "made/here")));
  EXPECT_EQ(filesIn(folder_ / "made/here"),
            (std::set<std::string>{"a_labels.png", "a_overlay.png", "a_merge.png", "legend.png"}));
  const cv::Mat labels = cv::imread(folder_ / "made/here/a_labels.png", cv::IMREAD_UNCHANGED);
  EXPECT_EQ(labels.type(), CV_8U);
  EXPECT_EQ(labels.size(), cv::Size(61, 45));
  double highest = 0;
  cv::minMaxLoc(labels, nullptr, &highest);
  EXPECT_LT(highest, 4);
  for (const char* name : {"made/here/a_overlay.png", "made/here/a_merge.png"}) {
    const cv::Mat picture = cv::imread(folder_ / name, cv::IMREAD_UNCHANGED);
    EXPECT_EQ(picture.type(), CV_8UC3);
    EXPECT_EQ(picture.size(), cv::Size(61, 45));
  }
}

TEST_F(RunCommand, WritesTheMergeMapOfEachInsertionAsData) {
  writeImage(folder_ / "a.png", 45, 61);
  const CommandResult result = succeeded(run({folder_ / "a.png", "--out", folder_ / "out", "--maps", "--json"}));
  cv::Mat before;
  for (int k = 1; k <= 2; ++k) {
    const cv::Mat map = cv::imread(folder_ / ("out/a_map" + std::to_string(k) + ".png"), cv::IMREAD_UNCHANGED);
    ASSERT_EQ(map.type(), CV_16U);
    ASSERT_EQ(map.size(), cv::Size(8, 4));
    std::set<int> clusters;
    for (int i = 0; i < 32; ++i) {
      clusters.insert(map.at<std::uint16_t>(i / 8, i % 8));
      for (int j = 0; !before.empty() && j < i; ++j) {
        if (before.at<std::uint16_t>(i / 8, i % 8) != before.at<std::uint16_t>(j / 8, j % 8)) continue;
        EXPECT_EQ(map.at<std::uint16_t>(i / 8, i % 8), map.at<std::uint16_t>(j / 8, j % 8))
            << "once merged stays merged";
      }
    }
    EXPECT_EQ(clusters.size(), result.json()["tokens"][k].get<std::size_t>());
    before = map;
  }
  EXPECT_EQ(filesIn(folder_ / "out").count("a_map3.png"), 0u);

  expectFailure(run({folder_ / "a.png", "--maps"}), 2, {"--maps needs --out"});
  writeImage(folder_ / "a_map2.png", 32, 64);
  expectFailure(run({folder_ / "a*.png", "--out", folder_.path(), "--maps"}), 2, {"a_map2.png", "would replace"});
}

TEST_F(RunCommand, TheLegendShowsTheColoursOfTheOverlays) {
  MPM_NEEDS_DEMO();
  if (vision::defaultModel().empty()) GTEST_SKIP() << "there is no default model";
  const CommandResult result =
      succeeded(mpmCommand({"run", "demo:street?frames=1", "--out", folder_ / "out", "--json"}));
  const cv::Mat legend = cv::imread(folder_ / "out/legend.png");
  const auto areas = result.json()["classes"];
  const auto occurring = std::count_if(areas.begin(), areas.end(), [](const auto& area) { return area > 0; });
  EXPECT_NEAR(legend.rows, 24 * static_cast<double>(occurring), 12);
  const auto pixelsOf = [&](const cv::Scalar& bgr) {
    cv::Mat same;
    cv::inRange(legend, bgr, bgr, same);
    return cv::countNonZero(same);
  };
  ASSERT_GT(areas["sky"], 0);
  EXPECT_GT(pixelsOf({0xfd, 0xb9, 0x55}), 150);
  ASSERT_GT(areas["road"], 0);
  EXPECT_GT(pixelsOf({0x5c, 0x36, 0x36}), 150);
}

TEST_F(RunCommand, WritesOnlyTheNamedPictures) {
  writeImage(folder_ / "a.png", 32, 64);
  const auto only = [&](const std::string& names, const std::string& out) {
    return run({"--only", names, folder_ / "a.png", "--out", folder_ / out});
  };
  ASSERT_EQ(only("overlay", "o").exit_code, 0);
  EXPECT_EQ(filesIn(folder_ / "o"), (std::set<std::string>{"a_overlay.png", "legend.png"}));
  ASSERT_EQ(only("labels,merge", "l").exit_code, 0);
  EXPECT_EQ(filesIn(folder_ / "l"), (std::set<std::string>{"a_labels.png", "a_merge.png"}));
  ASSERT_EQ(only("picture", "p").exit_code, 0);
  EXPECT_EQ(filesIn(folder_ / "p"), (std::set<std::string>{"a_picture.jpg"}));
  const cv::Mat kept = cv::imread(folder_ / "p/a_picture.jpg"), image = cv::imread(folder_ / "a.png");
  EXPECT_LT(cv::norm(kept, image, cv::NORM_L1) / static_cast<double>(3 * image.total()), 5);
  expectFailure(only("depth", "d"), 2, {"--only depth", "are labels, merge, overlay, picture"});
  expectFailure(only("pictures", "d"), 2, {"--only", "pictures"});
  expectFailure(run({folder_ / "a.png", "--only", "overlay"}), 2, {"--only needs --out DIR"});
}

// The classes of the scene are those of the default model, which is mostly right.
TEST_F(RunCommand, WritesTheExactLabelsOfTheScene) {
  MPM_NEEDS_DEMO();
  if (vision::defaultModel().empty()) GTEST_SKIP() << "there is no default model";
  succeeded(mpmCommand(
      {"run", "demo:street?frames=2&step=7200&variety=0.1", "--out", folder_ / "out", "--only", "labels,truth"}));
  std::set<std::string> names = filesIn(folder_ / "out");
  EXPECT_EQ(names.size(), 4u);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with("_truth.png"); });
  ASSERT_EQ(names.size(), 2u);
  for (const std::string& name : names) {
    const cv::Mat truth = cv::imread(folder_ / ("out/" + name), cv::IMREAD_UNCHANGED);
    const std::string stem = name.substr(0, name.size() - std::string("_truth.png").size());
    const cv::Mat labels = cv::imread(folder_ / ("out/" + stem + "_labels.png"), cv::IMREAD_UNCHANGED);
    ASSERT_EQ(truth.type(), CV_8UC1);
    ASSERT_EQ(truth.size(), labels.size());
    const cv::Mat same = truth == labels;
    EXPECT_GT(cv::countNonZero(same), 0.85 * static_cast<double>(truth.total()));
    EXPECT_LT(cv::countNonZero(same), truth.total()) << "what the model says is no truth";
  }
  writeImage(folder_ / "a.png", 32, 64);
  expectFailure(run({folder_ / "a.png", "--out", folder_ / "d", "--only", "truth"}), 2,
                {"--only truth", "are labels, merge, overlay, picture"});
}

TEST_F(RunCommand, NumbersFramesThatWouldHaveTheSameName) {
  Words sources;
  for (const char* name : {"x/a.jpg", "x/a.png", "z/a_2.png"}) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    writeImage(sources.emplace_back(folder_ / name), 32, 64);
  }
  const auto frames = run(sources + Words{"--out", folder_ / "out", "--json"}).jsonLines();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(filesIn(folder_ / "out").size(), 10u);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = std::vector{"a", "a_2", "a_2_2"}[i];
    EXPECT_EQ(frames[i]["source"], sources[i]);
    EXPECT_EQ(frames[i]["outputs"], (nlohmann::json{name + "_labels.png", name + "_overlay.png", name + "_merge.png"}));
  }
}

TEST_F(RunCommand, TellsTheFramesOfTheSceneApart) {
  MPM_NEEDS_DEMO();
  const std::string streets = "demo:street?seed=5..6&size=64x64&start=2026-03-20T00:00&step=43200.5&frames=2";
  const auto frames = run({streets, "--json"}).jsonLines();
  ASSERT_EQ(frames.size(), 4u);
  std::set<std::string> names;
  for (int i = 0; i < 4; ++i) {
    names.insert(frames[i]["name"].get<std::string>());
    EXPECT_EQ(frames[i]["time"], i % 2 ? "2026-03-20T12:00:00.500Z" : "2026-03-20T00:00:00.000Z");
    EXPECT_EQ(frames[i]["night"], i % 2 == 0);
    EXPECT_EQ(frames[i]["sun_elevation"] > 0, i % 2 == 1);
    EXPECT_EQ(frames[i]["film"], i / 2);
  }
  EXPECT_EQ(names.size(), 4u);
}

TEST_F(RunCommand, TakesImagesVideosAndGlobsAndStopsInTime) {
  for (int i = 0; i < 2; ++i) writeImage(folder_ / ("g" + std::to_string(i) + ".png"), 32, 64, i);
  const auto bluer = [](int i) { return cv::Mat(48, 64, CV_8UC3, cv::Scalar(60 * i, 100, 200 - 40 * i)); };
  if (!writeVideo(folder_ / "clip.avi", "MJPG", 10, {64, 48}, 4, bluer)) GTEST_SKIP() << "this OpenCV writes no video";
  const CommandResult all = succeeded(run({folder_ / "g*.png", folder_ / "clip.avi", "--json"}));
  ASSERT_EQ(all.jsonLines().size(), 6u);
  EXPECT_EQ(all.jsonLines()[5]["frame"], 5);
  EXPECT_EQ(all.jsonLines()[5]["source"], folder_ / "clip.avi");
  const CommandResult some = succeeded(run({folder_ / "g*.png", folder_ / "clip.avi", "--json", "--max-frames", "3"}));
  EXPECT_EQ(some.jsonLines().size(), 3u);
}

// The pixels of NAME_depth.png mean what the line of --json says.
void expectDepths(const cv::Mat& pixels, const nlohmann::json& depth) {
  ASSERT_EQ(pixels.type(), CV_16U);
  double least = 0, most = 0;
  cv::minMaxLoc(pixels, &least, &most);
  const double offset = depth["offset"], step = depth["step"];
  EXPECT_NEAR(offset + step * least, depth["min"].get<double>(), step);
  EXPECT_NEAR(offset + step * most, depth["max"].get<double>(), step);
  EXPECT_LE(depth["min"], depth["median"]);
  EXPECT_LE(depth["median"], depth["max"]);
}

TEST_F(RunCommand, WritesDepth) {
  writeImage(folder_ / "a.png", 45, 261);
  const auto run = [&](const std::string& model, const std::string& out, const std::string& reduce) {
    return mpmCommand(
        {"run", folder_ / "a.png", "--model", model, "--reduce", reduce, "--out", folder_ / out, "--json"});
  };
  const auto line = succeeded(run(kDepthModel, "out", "mpm:blocks=1,2")).json();
  EXPECT_EQ(line["tokens"].size(), 3u);
  EXPECT_FALSE(line.contains("classes"));
  EXPECT_EQ(line["depth"]["unit"], "relative");
  EXPECT_EQ(line["outputs"], (nlohmann::json{"a_depth.png", "a_depth_colors.png", "a_merge.png"}));
  const cv::Mat pixels = cv::imread(folder_ / "out/a_depth.png", cv::IMREAD_UNCHANGED);
  EXPECT_EQ(pixels.size(), cv::Size(261, 45));
  expectDepths(pixels, line["depth"]);
  const cv::Mat colors = cv::imread(folder_ / "out/a_depth_colors.png", cv::IMREAD_UNCHANGED);
  EXPECT_EQ(colors.type(), CV_8UC3);
  EXPECT_EQ(colors.cols, 261);
  EXPECT_GT(colors.rows, 45) << "the legend below";

  fs::copy_file(kDepthModel, folder_ / "m.onnx");
  std::ofstream(folder_ / "m.json") << R"({"task": "depth", "depth": "metre"})";
  const auto metres = run(folder_ / "m.onnx", "metres", "none").json();
  EXPECT_EQ(metres["depth"]["unit"], "metre");
  EXPECT_EQ(metres["depth"]["step"], 1.0 / 256);
  expectDepths(cv::imread(folder_ / "metres/a_depth.png", cv::IMREAD_UNCHANGED), metres["depth"]);

  const CommandResult text = mpmCommand({"run", folder_ / "a.png", "--model", folder_ / "m.onnx"});
  EXPECT_THAT(text.out, HasSubstr(" m (min / median / max)"));
}

TEST_F(RunCommand, WritesSegments) {
  writeImage(folder_ / "a.png", 45, 61);
  const auto run = [&](const Words& more) {
    return mpmCommand(
        Words{"run", folder_ / "a.png", "--model", kEomt, "--reduce", "mpm:blocks=1,2", "--min-score", "0.3"} + more);
  };
  const auto line =
      succeeded(run({"--task", "panoptic", "--min-overlap", "0.1", "--out", folder_ / "out", "--json"})).json();
  EXPECT_EQ(line["outputs"], (nlohmann::json{"a_segments.png", "a_overlay.png", "a_segments.json", "a_merge.png"}));
  EXPECT_TRUE(fs::exists(folder_ / "out/legend.png"));
  const cv::Mat ids = cv::imread(folder_ / "out/a_segments.png", cv::IMREAD_UNCHANGED);
  ASSERT_EQ(ids.type(), CV_16U);
  EXPECT_EQ(ids.size(), cv::Size(61, 45));
  ASSERT_GT(line["segments"].size(), 0u);
  for (const auto& segment : line["segments"]) {
    EXPECT_EQ(segment["area"], cv::countNonZero(ids == segment["id"].get<int>()));
    EXPECT_THAT(segment["class"], StartsWith("class_"));
    EXPECT_EQ(segment["thing"], true);
  }
  const auto list = nlohmann::json::parse(std::ifstream(folder_ / "out/a_segments.json"));
  EXPECT_EQ(list["segments"], line["segments"]);
  EXPECT_EQ(list["task"], "panoptic");
  EXPECT_THAT(run({"--task", "instance"}).out, HasSubstr("segment"));
  EXPECT_TRUE(mpmCommand({"run", folder_ / "a.png", "--model", kEomt, "--json"}).json().contains("classes"));

  expectFailure(run({}), 2, {"--min-score", "panoptic, instance and boxes"});
  expectFailure(mpmCommand({"run", folder_ / "a.png", "--model", kDepthModel, "--min-overlap", "0.3"}), 2,
                {"--min-overlap"});
  const auto as = [&](const std::string& model, const std::string& task) {
    return mpmCommand({"run", folder_ / "a.png", "--model", model, "--task", task});
  };
  expectFailure(as(kSegmenter, "panoptic"), 1, {"gives no segments (its head is 'mask_transformer'"});
  expectFailure(as(kClassifier, "semantic"), 1, {"does not segment (its head is 'classifier')"});
  expectFailure(as(kEomt, "depth"), 1, {"does not estimate depth"});
}

TEST_F(RunCommand, WritesObjectsWithNamesScoresAndBoxes) {
  cv::imwrite(folder_ / "a.png", noisePicture(45, 61));
  fs::copy_file(kObjects, folder_ / "m.onnx");
  std::ofstream(folder_ / "m.json") << R"({"classes": [{"name": "person", "color": "#ff0000"}, {"name": "car"},
    {"name": "dog"}, {"name": "cat"}]})";
  const auto run = [&](const Words& more) {
    return succeeded(mpmCommand(Words{"run", folder_ / "a.png", "--model", folder_ / "m.onnx"} + more));
  };
  for (const std::string task : {"instance", "boxes"}) {
    const auto line = run({"--task", task, "--out", folder_ / task, "--json"}).json();
    EXPECT_EQ(line["outputs"], (nlohmann::json{"a_segments.png", "a_overlay.png", "a_segments.json", "a_merge.png"}));
    const auto list = nlohmann::json::parse(std::ifstream(folder_ / (task + "/a_segments.json")));
    EXPECT_EQ(list["task"], task);
    EXPECT_EQ(list["segments"], line["segments"]);
    ASSERT_GT(line["segments"].size(), 0u);
    const auto& best = line["segments"][0];
    EXPECT_THAT((std::vector<std::string>{"person", "car", "dog", "cat"}), Contains(best["class"]));
    ASSERT_EQ(best["box"].size(), 4u);
    EXPECT_LT(best["box"][0], best["box"][2]);
    EXPECT_LT(best["box"][1], best["box"][3]);
    const std::size_t count = line["segments"].size();
    std::string said = std::to_string(count) + (count == 1 ? " object" : " objects");
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 3); ++i) {
      said += (i == 0 ? ": " : ", ") + line["segments"][i]["class"].get<std::string>() + " " +
              std::to_string(std::lround(100 * line["segments"][i]["score"].get<double>())) + " %";
    }
    EXPECT_THAT(run({"--task", task}).out, EndsWith("  " + said + "\n"));
  }
  // Outside of all boxes and names the overlay of boxes is the picture.
  const cv::Mat drawn = cv::imread(folder_ / "boxes/a_overlay.png"), image = cv::imread(folder_ / "a.png");
  cv::Mat same;
  cv::absdiff(drawn, image, same);
  const int changed = cv::countNonZero(same.reshape(1));
  EXPECT_GT(changed, 0);
  EXPECT_GT(cv::countNonZero(cv::imread(folder_ / "instance/a_overlay.png").reshape(1) != drawn.reshape(1)), 0);
  expectFailure(mpmCommand({"eval", "demo:street?frames=1&size=40x60", "--model", folder_ / "m.onnx"}), 1,
                {"does not segment (its task is 'instance')"});
}

TEST_F(RunCommand, WritesWhatAModelWithoutATaskGives) {
  onnx::ModelProto map = modelAt(kData + "/dpt_ts16.onnx");  // {1, 1, H, W}, no depth by its name
  onnx::GraphProto& graph = *map.mutable_graph();
  graph.mutable_node(graph.node_size() - 1)->set_output(0, "heat");
  graph.mutable_output(0)->set_name("heat");
  const std::string model = folder_ / "heat.onnx";
  saveModel(map, model);
  writeImage(folder_ / "a.png", 40, 60);
  const nlohmann::json line =
      mpmCommand({"run", folder_ / "a.png", "--model", model, "--json", "--out", folder_ / "out"}).json();
  EXPECT_EQ(line["outputs"], (nlohmann::json{"a_output.png", "a_output.npy", "a_merge.png"}));
  const nlohmann::json& output = line["output"][0];
  const std::vector<int> shape = output["shape"];
  ASSERT_EQ(shape.size(), 4u);
  const std::string bytes = readFile(folder_ / "out/a_output.npy");
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  const std::size_t head = 10 + static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ(head % 64, 0u);
  EXPECT_THAT(bytes.substr(10, head - 10),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, " + std::to_string(shape[2]) + ", " +
                        std::to_string(shape[3]) + ")}"));
  EXPECT_EQ(bytes[head - 1], '\n');
  ASSERT_EQ(bytes.size(), head + 4u * shape[2] * shape[3]);
  cv::Mat values(shape[2], shape[3], CV_32F), expected;
  std::memcpy(values.data, bytes.data() + head, bytes.size() - head);
  const auto [least, most] = std::minmax_element(values.begin<float>(), values.end<float>());
  EXPECT_FLOAT_EQ(output["min"], *least);
  EXPECT_FLOAT_EQ(output["max"], *most);
  LoadedNet net = readNet(model);
  EXPECT_EQ(output["name"], net.info.outputs[0]);
  values.convertTo(expected, CV_8U, 255 / (*most - *least), -255 * *least / (*most - *least));
  EXPECT_LE(cv::norm(cv::imread(folder_ / "out/a_output.png", cv::IMREAD_UNCHANGED), expected, cv::NORM_INF), 1);

  const nlohmann::json several = mpmCommand({"run", folder_ / "a.png", "--model", kData + "/hf_yolos_dynamo18.onnx",
                                             "--json", "--out", folder_ / "two", "--only", "output2"})
                                     .json();
  EXPECT_EQ(several["outputs"], nlohmann::json{"a_output2.npy"});
  EXPECT_EQ(several["output"][1]["name"], "pred_boxes");
}

TEST_F(RunCommand, ShowsItsProgressOnATerminal) {
  for (int i = 0; i < 3; ++i) writeImage(folder_ / ("g" + std::to_string(i) + ".png"), 32, 64, i);
  const CommandResult shown = run({folder_.path(), "--json"}, {.stderr_is_terminal = true});
  EXPECT_THAT(shown.err, ::testing::ContainsRegex("frame [12] of 3  [0-9.]+(/s| s each)  [0-9]+ s left"));
  EXPECT_EQ(shown.jsonLines().size(), 3u);
}

TEST_F(RunCommand, NeverReplacesItsSources) {
  fs::create_directory(folder_ / "s");
  for (const char* name : {"s/street.png", "s/street_labels.png"}) writeImage(folder_ / name, 32, 64);
  fs::create_directory_symlink("s", folder_ / "link");
  const auto into = [&](const char* out, const Words& sources) { return run(sources + Words{"--out", folder_ / out}); };
  expectFailure(into("s", {folder_ / "s"}), 2, {"--out is the source"});
  expectFailure(into("link", {folder_ / "s"}), 2, {"--out is the source"});
  expectFailure(into("s", {folder_ / "s/*.png"}), 2, {"street_labels.png", "would replace"});
  expectFailure(into("s", {folder_ / "s/street.png", folder_ / "link/street_labels.png"}), 2, {"would replace"});
  EXPECT_EQ(filesIn(folder_ / "s").size(), 2u);
  fs::create_directory(folder_ / "t");
  writeImage(folder_ / "t/legend.png", 32, 64);
  expectFailure(into("t", {folder_ / "t/legend.png"}), 2, {"legend.png", "would replace"});
  EXPECT_EQ(into("s/out", {folder_ / "s"}).exit_code, 0);
  EXPECT_EQ(into("s", {folder_ / "s/street_labels.png"}).exit_code, 0) << "street_labels_labels.png is no source";
  EXPECT_EQ(filesIn(folder_ / "s").size(), 7u);
}

// Thousands of frames, so that a signal after the first always comes in the middle.
Words longRun(const TemporaryFolder& folder, const Words& more = {}) {
  writeImage(folder / "a.png", 200, 300);
  return Words{"run"} + Words(5000, folder / "a.png") +
         Words{"--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--json"} + more;
}

TEST(Interrupt, FinishesTheFrameInHand) {
  for (int signal : {SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    const CommandResult result =
        mpmCommand(longRun(folder, {"--out", folder / "out"}), {.signal_after_first_line = signal});
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_EQ(result.err, kNoted);
    const std::size_t frames = result.jsonLines().size();  // throws on half a line
    EXPECT_LT(frames, 5000u);
    const auto pictures = filesIn(folder / "out");
    for (const std::string& name : pictures) EXPECT_FALSE(cv::imread(folder / ("out/" + name)).empty()) << name;
    EXPECT_EQ(pictures.size(), 3 * frames + 1) << "and the legend";
  }
}

TEST(Interrupt, ReadersThatLeaveEndItQuietly) {
  const TemporaryFolder folder;
  const CommandResult result = mpmCommand(longRun(folder), {.close_stdout_after_first_line = true});
  EXPECT_EQ(result.exit_code, 141);
  EXPECT_EQ(result.err, "");
}

TEST(Interrupt, LeavesTheChartOfAnotherRun) {
  MPM_NEEDS_DEMO();
  const TemporaryFolder folder;
  writeImage(folder / "chart.png", 10, 10);
  const CommandResult result = mpmCommand({"run", "demo:street?size=64x64&step=60&frames=100000", "--model", kSegmenter,
                                           "--reduce", "mpm:blocks=1,2", "--chart", folder / "chart.png"},
                                          {.signal_after_first_line = SIGINT});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("nothing written"));
  EXPECT_EQ(cv::imread(folder / "chart.png").size(), cv::Size(10, 10));
}

}  // namespace
}  // namespace mpm::test
