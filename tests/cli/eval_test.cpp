// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/models.h"
#include "mpm/estimator.hpp"
#include "onnx/tiny_vit.h"
#include "support/exif.h"

namespace mpm::test {
namespace {

cv::Mat labelsBy(const std::string& model, const std::string& image) {
  const EstimatorOptions options{.reduce = mpmBefore({1, 2})};
  return Estimator(model, options).estimate(cv::imread(image)).labels;
}

// A folder of images, and what the model itself says about them as labels: a perfect score, until something is changed.
class Eval : public InFolder {
 protected:
  void SetUp() override {
    for (const char* name : {"images", "labels"}) fs::create_directory(folder_ / name);
    for (int i = 0; i < 2; ++i) {
      writeImage(image(i), 40, 70, i);
      cv::imwrite(labels(i), labelsBy(kSegmenter, image(i)));
    }
  }

  std::string image(int i) const { return folder_ / ("images/i" + std::to_string(i) + ".png"); }
  std::string labels(int i) const { return folder_ / ("labels/i" + std::to_string(i) + ".png"); }
  cv::Mat readLabels(int i) const { return cv::imread(labels(i), cv::IMREAD_UNCHANGED); }

  CommandResult eval(const Words& more = {}) const {
    return mpmCommand(Words{"eval", "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--images", folder_ / "images",
                            "--labels", folder_ / "labels"} +
                      more);
  }
};

TEST_F(Eval, CountsWhatIsWrongAndNotWhatIsIgnored) {
  cv::Mat changed = readLabels(0);
  changed.row(0).setTo(255);  // void: 70 pixels do not count
  cv::Mat wrong = changed.row(1);
  for (int x = 0; x < wrong.cols; ++x) wrong.at<unsigned char>(0, x) = (wrong.at<unsigned char>(0, x) + 1) % 4;
  cv::imwrite(labels(0), changed);
  const auto json = eval({"--json"}).json();
  EXPECT_NEAR(json["pixel_accuracy"], 100.0 * (1 - 70.0 / (2 * 40 * 70 - 70)), 1e-3);
  EXPECT_LT(json["miou"], 100);

  changed.setTo(9, changed == 255);
  cv::imwrite(labels(0), changed);
  expectFailure(eval({"--json"}), 1, {labels(0), "holds the label 9"});
  EXPECT_NEAR(eval({"--json", "--ignore", "9"}).json()["pixel_accuracy"], 100.0 * (1 - 70.0 / (2 * 40 * 70 - 70)),
              1e-3);
  for (int i = 0; i < 2; ++i) cv::imwrite(labels(i), readLabels(i) + 1);
  EXPECT_EQ(eval({"--json", "--label-offset", "-1", "--ignore", "10"}).json()["pixel_accuracy"],
            json["pixel_accuracy"]);
  fs::copy_file(kSegmenter, folder_ / "own.onnx");
  std::ofstream(folder_ / "own.json") << R"({"ignore": 9})";
  const auto own = mpmCommand({"eval", "--model", folder_ / "own.onnx", "--reduce", "mpm:blocks=1,2", "--images",
                               folder_ / "images", "--labels", folder_ / "labels", "--json", "--label-offset", "-1"})
                       .json();
  EXPECT_EQ(own["ignore"], nlohmann::json::array({10})) << "the model's 9, as the files count";
  EXPECT_EQ(own["pixel_accuracy"], json["pixel_accuracy"]);
}

TEST_F(Eval, WritesALinePerImage) {
  cv::Mat changed = readLabels(1);
  changed.row(0).setTo(255);
  changed.at<unsigned char>(1, 0) = (changed.at<unsigned char>(1, 0) + 1) % 4;
  cv::imwrite(labels(1), changed);
  const std::string file = folder_ / "images.jsonl";
  const auto json = eval({"--json", "--per-image", file}).json();
  const auto lines = CommandResult{.out = readFile(file)}.jsonLines();
  ASSERT_EQ(lines.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(lines[i]["source"], image(i));
    EXPECT_EQ(lines[i]["name"], "i" + std::to_string(i));
    EXPECT_FALSE(lines[i].contains("time")) << "files do not know their time";
  }
  EXPECT_EQ(lines[0]["miou_percent"], 100);
  EXPECT_LT(lines[1]["miou_percent"], 100);
  EXPECT_NEAR(lines[1]["pixel_accuracy_percent"], 100.0 * (1 - 1.0 / (39 * 70)), 1e-3);
  for (std::size_t k = 0; k < 3; ++k) {
    const double a = lines[0]["tokens"][k], b = lines[1]["tokens"][k];
    EXPECT_NEAR(json["tokens_mean"][k], (a + b) / 2, 0.01);
    EXPECT_NEAR(json["tokens_sd"][k], std::abs(a - b) / std::sqrt(2), 0.01);
  }
  expectFailure(eval({"--per-image", folder_ / "nowhere/a.jsonl"}), 1, {"nowhere"});
}

// The lines of the log have the times, too, so both say the same of them.
TEST_F(Eval, TheTableHasTheNumbersOfTheJsonInItsColumns) {
  const Words all = {"--reduce", "none", "--reduce", "tome:count=3", "--resume", folder_ / "log.jsonl"};
  succeeded(eval(all));
  const auto table = succeeded(eval(all)).lines();
  const auto rows = succeeded(eval(all + Words{"--json"})).jsonLines();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(table[0], ::testing::MatchesRegex("reduction +tokens +mIoU % +loss +agreement % +mean ms +speed-up"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const nlohmann::json& full = rows[i]["against_full"];
    EXPECT_THAT(table[1 + i],
                ::testing::ContainsRegex("^" + rows[i]["reduce"].get<std::string>() + " +" +
                                         fixed(rows[i]["tokens_mean"].back(), 1) + " +" + fixed(rows[i]["miou"], 2) +
                                         " +" + fixed(full["miou_loss"], 2) + ".* " + fixed(full["agreement"], 2)));
  }
}

TEST_F(Eval, SlidesWindows) {
  const auto strideBy = [&](const Words& fit) { return eval(Words{"--json"} + fit).json()["window_stride"]; };
  EXPECT_EQ(strideBy({"--fit", "window"}), (nlohmann::json{{"height", 30}, {"width", 60}}));
  EXPECT_EQ(strideBy({"--fit", "window:stride=16"}), (nlohmann::json{{"height", 16}, {"width", 16}}));
  EXPECT_TRUE(strideBy({}).is_null());
  expectFailure(eval({"--fit", "window:stride=33"}), 1, {"1 to 32 px apart"});
  for (const auto& [spec, part] : {std::pair("crop", "'crop' is not resize or window"),
                                   {"resize:stride=16", "'resize' is not"},
                                   {"window:stride", "stride: '' is not a number from 1"},
                                   {"window:stride=0", "stride: '0' is not"},
                                   {"window:side=3", "'side' is neither stride=PX nor short-side=PX"}})
    expectFailure(eval({"--fit", spec}), 2, {"--fit", part});
}

TEST_F(Eval, TokensOfWindowsAreTheirMean) {
  const std::string file = folder_ / "lines.jsonl";
  succeeded(eval({"--fit", "window:stride=1", "--per-image", file}));  // 9 x 7 windows: 63 / 63 is no sum of 1 / 63
  for (const auto& line : CommandResult{.out = readFile(file)}.jsonLines()) EXPECT_EQ(line["tokens"][0].dump(), "32.0");
}

// Which full model: one for all precisions, that of the first.
TEST_F(Eval, OtherPrecisionsAreComparedWithTheFullModelOfTheFirst) {
  const auto labelsOf = [&](Precision precision, const Reduction& reduce, int i) {
    return Estimator(kSegmenter, {.reduce = reduce, .precision = precision}).estimate(cv::imread(image(i))).labels;
  };
  const Words both = {"--precision", "fp32", "--precision", "int8"};
  const auto measure = [&](const Words& more) {
    return succeeded(mpmCommand(Words{"eval", "--model", kSegmenter, "--images", folder_ / "images", "--labels",
                                      folder_ / "labels", "--reduce", "none", "--reduce", "mpm:blocks=1", "--json"} +
                                more))
        .jsonLines();
  };
  const std::string file = folder_ / "lines.jsonl";
  const auto rows = measure(both + Words{"--per-image", file});
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.dump());
    double agreement = 0;
    for (int i = 0; i < 2; ++i) {
      agreement += 100.0 / 2 *
                   cv::countNonZero(labelsOf(parsePrecision(row["precision"]), parseReduction(row["reduce"]), i) ==
                                    labelsOf(Precision::kFp32, kFullModel, i)) /
                   (40 * 70);
    }
    EXPECT_NEAR(row["against_full"]["agreement"], agreement, 1e-4);
    EXPECT_NEAR(row["against_full"]["miou_loss"].get<double>(),
                rows[0]["miou"].get<double>() - row["miou"].get<double>(), 2e-3);
    EXPECT_EQ(row["full_precision"], "fp32");
    EXPECT_EQ(row["against_full"]["images"], 2);
  }
  EXPECT_EQ(rows[2]["reduce"], "none");
  EXPECT_LT(rows[2]["against_full"]["agreement"], 100) << "int8 is not for nothing";
  EXPECT_EQ(rows[0]["against_full"]["agreement"], 100);
  EXPECT_EQ(succeeded(mpmCommand({"eval", "--combine", file, "--json"})).jsonLines(), rows)
      << "lines have the numbers of the run, to the last digit";
  for (const auto& line : CommandResult{.out = readFile(file)}.jsonLines()) {
    if (line["reduce"] == "none" && line["precision"] == "fp32") {
      EXPECT_EQ(line["full_ms"], line["total_ms"]);
    }
  }

  // Alone, int8 has a full model of its own. Such lines are another variant.
  measure({"--precision", "int8", "--resume", folder_ / "log.jsonl"});
  measure(both + Words{"--resume", folder_ / "log.jsonl"});
  const auto all = succeeded(mpmCommand({"eval", "--combine", folder_ / "log.jsonl", "--json"})).jsonLines();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0]["full_precision"], "int8");
  EXPECT_EQ(all[0]["against_full"]["agreement"], 100);
  EXPECT_EQ(all[4]["against_full"]["agreement"], rows[2]["against_full"]["agreement"]);
  const std::string table = succeeded(mpmCommand({"eval", "--combine", folder_ / "log.jsonl"})).out;
  EXPECT_THAT(table, HasSubstr("none int8 against full int8"));
  EXPECT_THAT(table, HasSubstr("none int8 against full fp32"));
}

TEST_F(Eval, LabelsOfTheFullModelAreThoseOfTheFirstPrecision) {
  const auto rows = succeeded(mpmCommand({"eval", folder_ / "images", "--model", kSegmenter, "--against", "full",
                                          "--reduce", "none", "--precision", "fp32", "--precision", "int8", "--json"}))
                        .jsonLines();
  EXPECT_EQ(rows[0]["pixel_accuracy"], 100);
  EXPECT_LT(rows[1]["pixel_accuracy"], 100);
  EXPECT_GT(rows[1]["against_full"]["miou_loss"], 0);
  EXPECT_EQ(rows[1]["against_full"]["miou_loss_low"], 0) << "no labels are nearer to those of the full model than they";
}

// The full model makes the labels, and is none of the rows.
TEST_F(Eval, ComparesWithAFullModelThatIsNotAskedFor) {
  const std::string file = folder_ / "lines.jsonl";
  const auto measure = [&](const Words& more) {
    const auto rows = succeeded(mpmCommand(Words{"eval", folder_ / "images", "--model", kSegmenter, "--against", "full",
                                                 "--reduce", "mpm:blocks=1", "--reduce", "mpm:blocks=1,2", "--json"} +
                                           more))
                          .jsonLines();
    std::vector<std::pair<double, double>> found;
    for (const auto& row : rows) found.emplace_back(row["against_full"]["agreement"], row["against_full"]["miou_loss"]);
    return found;
  };
  const auto alone = measure({"--per-image", file});
  ASSERT_EQ(alone.size(), 2u);
  const auto beside = measure({"--reduce", "none"});
  EXPECT_EQ(alone, std::vector(beside.begin(), beside.begin() + 2));
  EXPECT_LT(alone[1].first, 100);
  const auto combined = succeeded(mpmCommand({"eval", "--combine", file, "--json"})).jsonLines();
  ASSERT_EQ(combined.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(combined[i]["against_full"]["agreement"], alone[i].first);
}

// The film of pictures is their folder, however they are named.
TEST_F(Eval, TheFilmOfPicturesIsTheirFolder) {
  fs::current_path(folder_ / "images");
  std::set<std::string> films;
  for (const std::string& source : Words{"*.png", "./*.png", image(0), folder_ / "images"}) {
    const std::string file = folder_ / "lines.jsonl";
    succeeded(mpmCommand(
        {"eval", source, "--model", kSegmenter, "--against", "full", "--reduce", "mpm:blocks=1", "--per-image", file}));
    for (const auto& line : CommandResult{.out = readFile(file)}.jsonLines()) films.insert(line["film"]);
  }
  fs::current_path("/");
  EXPECT_THAT(films, ElementsAre(StartsWith(fs::path(folder_.path()).filename().string() + "/images ")));
}

TEST_F(Eval, SaysOnHowManyImagesTheFullModelRan) {
  const Words log = {"--resume", folder_ / "log.jsonl"};
  succeeded(eval(log + Words{"--max-frames", "1"}));
  const Words both = Words{"--reduce", "none"} + log;
  const CommandResult table = succeeded(eval(both));
  EXPECT_THAT(table.out, HasSubstr("over 2 images"));
  EXPECT_THAT(table.out, HasSubstr("agreement and speed-up over 1 to 2 images;"));
  for (const auto& row : eval(both + Words{"--json"}).jsonLines())
    EXPECT_EQ(row["against_full"]["images"], row["reduce"] == "none" ? 2 : 1);
}

TEST_F(Eval, SaysHowItRefined) {
  fs::copy_file(kSegmenter, folder_ / "own.onnx");
  std::ofstream(folder_ / "own.json") << R"({"refine": "guided"})";
  const auto refine = [&](const std::string& model, const Words& more = {}) {
    return succeeded(mpmCommand(Words{"eval", "--model", model, "--images", folder_ / "images", "--labels",
                                      folder_ / "labels", "--json"} +
                                more))
        .json()["refine"];
  };
  EXPECT_EQ(refine(folder_ / "own.onnx"), "guided");
  EXPECT_EQ(refine(folder_ / "own.onnx", {"--refine", "none"}), "none");
  EXPECT_EQ(refine(kSegmenter), "none");
}

TEST_F(Eval, RefusesWhatCannotBeEvaluated) {
  const auto with = [&](const std::string& model, const std::string& images, const std::string& label_maps) {
    return mpmCommand(
        {"eval", "--model", model, "--reduce", "mpm:blocks=1", "--images", images, "--labels", label_maps});
  };
  const std::string images = folder_ / "images", label_maps = folder_ / "labels", nothing = folder_ / "nothing";
  expectFailure(with(kClassifier, images, label_maps), 1, {"does not segment (its head is 'classifier')"});
  expectFailure(with(kDepthModel, images, label_maps), 1, {"does not segment (its task is 'depth')"});
  expectFailure(with(kSegmenter, nothing, label_maps), 1, {"no folder of images"});
  expectFailure(with(kSegmenter, images, nothing), 1, {"folder of labels"});
  cv::imwrite(labels(1), cv::Mat::zeros(20, 35, CV_8U));
  const CommandResult smaller = eval({"--json"});
  expectFailure(smaller, 1, {labels(1), "35 x 20 px", "70 x 40 px"});
  EXPECT_EQ(smaller.out, "");
  fs::remove(labels(1));
  writeImage(folder_ / "labels/i1.jpg", 40, 70);
  expectFailure(eval({"--json"}), 1, {"no label map for '" + image(1), "'i1.jpg' is no label map: write it as PNG"});
  writeImage(folder_ / "images/i0.jpg", 40, 70);
  expectFailure(eval(), 2, {"mpm eval needs images of different names", "i0.jpg", "i0.png"});
  expectFailure(mpmCommand({"eval", images, "--model", kSegmenter, "--against", "full", "--label-offset", "1"}), 2,
                {"leave out --label-offset"});
  fs::remove(folder_ / "images/i0.jpg");
  const std::string lines = folder_ / "lines.jsonl";
  expectFailure(eval({"--resume", lines, "--per-image", lines}), 2, {"leave out --per-image"});
}

TEST_F(Eval, LabelsLieOverThePictureThatExifTurned) {
  const auto upright = eval({"--json"}).json();
  for (const int i : {0, 1}) {  // the same picture, of a camera that hangs on its side
    cv::Mat stored;
    cv::rotate(cv::imread(image(i)), stored, cv::ROTATE_90_COUNTERCLOCKWISE);
    cv::imwrite(image(i), stored);
    setExifOrientation(image(i), 6);
  }
  const auto turned = eval({"--json"}).json();
  for (const char* same : {"miou", "pixel_accuracy", "tokens_mean"}) EXPECT_EQ(turned[same], upright[same]) << same;
}

// `mpm eval --dataset`, on a tiny tree in the format of ADE20K; those of the other sets:
// tests/evaluation/dataset_test.cpp.
class EvalOfADataset : public InFolder {
 protected:
  // What the model itself says about the image is its label map: a perfect score if the labels are read right.
  void SetUp() override {
    TinyVit({.head = HeadStyle::kLinear, .classes = 150}).save(model_);
    for (const std::string& path : {image_, labels_}) fs::create_directories(fs::path(path).parent_path());
    writeImage(image_, 24, 40);
    cv::Mat labels = labelsBy(model_, image_) + 1;  // 0 does not count
    labels.row(0).setTo(0);
    cv::imwrite(labels_, labels);
  }

  CommandResult eval(const Words& more) const {
    return mpmCommand(Words{"eval", "--model", model_, "--reduce", "mpm:blocks=1,2", "--json", "--dataset", "ade20k",
                            folder_.path()} +
                      more);
  }

  const std::string model_ = folder_ / "model.onnx", image_ = folder_ / "images/validation/a.jpg",
                    labels_ = folder_ / "annotations/validation/a.png";
};

TEST_F(EvalOfADataset, ReadsItsFoldersAndLabels) {
  const auto json = succeeded(eval({"--fit", "resize"})).json();
  EXPECT_EQ(json["dataset"], "ade20k");
  for (const char* key : {"ignore", "label_offset"}) EXPECT_TRUE(json.at(key).is_null()) << key;
  EXPECT_EQ(json["images"], 1);
  EXPECT_EQ(json["miou"], 100);
  EXPECT_EQ(json["iou"].size(), 150u);
  std::int64_t pixels = 0;
  for (const auto& row : json["confusion"])
    for (const auto& count : row) pixels += count.get<std::int64_t>();
  EXPECT_EQ(pixels, 23 * 40);
  EXPECT_TRUE(json["window_stride"].is_null());
  expectFailure(mpmCommand({"eval", "--model", model_, "--dataset", "ade20k:training", folder_.path()}), 1,
                {"training"});
  expectFailure(mpmCommand({"eval", "--model", kSegmenter, "--dataset", "ade20k", folder_.path()}), 1,
                {"ade20k has 150 classes, the model 4"});
}

// Though the images of both parts have the same name.
TEST_F(EvalOfADataset, AnotherPartOfItIsOtherWork) {
  for (const std::string part : {"images/", "annotations/"})
    fs::copy(folder_ / (part + "validation"), folder_ / (part + "training"));
  const std::string log = folder_ / "log.jsonl";
  const auto dataset = [&](const std::string& name) {
    return succeeded(mpmCommand({"eval", "--model", model_, "--reduce", "mpm:blocks=1,2", "--fit", "resize", "--json",
                                 "--dataset", name, folder_.path(), "--resume", log}))
        .json()["dataset"];
  };
  EXPECT_EQ(dataset("ade20k"), "ade20k");
  EXPECT_EQ(dataset("ade20k:training"), "ade20k:training");
  EXPECT_EQ(dataset("ade20k:validation"), "ade20k");
  EXPECT_EQ(CommandResult{.out = readFile(log)}.jsonLines().size(), 2u);
  EXPECT_THAT(succeeded(mpmCommand({"eval", "--combine", log})).out,
              AllOf(HasSubstr("\nmpm:blocks=1,2 of ade20k "), HasSubstr("\nmpm:blocks=1,2 of ade20k:training ")));
}

TEST_F(EvalOfADataset, OptionsWinOverTheProtocol) {
  const auto json = eval({"--fit", "window:short-side=30:stride=10", "--input-size", "12x20"}).json();
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 12}, {"width", 20}}));
  EXPECT_EQ(json["short_side"], 30);
  EXPECT_EQ(json["window_stride"], (nlohmann::json{{"height", 10}, {"width", 10}}));
}

// One image of one window of 128 x 128 patches.
class WindowOfADataset : public EvalOfADataset {
 protected:
  void SetUp() override {
    EvalOfADataset::SetUp();
    for (const std::string& path : {image_, labels_}) {
      cv::Mat picture = cv::imread(path, -1);
      cv::imwrite(path, picture(cv::Rect(0, 0, 24, 24)).clone());
    }
  }
};

TEST_F(WindowOfADataset, IsThatOfItsProtocol) {
  const auto json = succeeded(eval({})).json();
  EXPECT_EQ(json["fit"], "window");
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 512}, {"width", 512}}));
  EXPECT_EQ(json["window_stride"], (nlohmann::json{{"height", 480}, {"width", 480}}));
  EXPECT_EQ(json["short_side"], 512);
  EXPECT_EQ(json["tokens_mean"][0], 128 * 128);
}

TEST_F(WindowOfADataset, DecidesTheReductionsOfAStudy) {
  TinyVit({.head = HeadStyle::kLinear, .blocks = 1, .classes = 150}).save(model_);
  std::ofstream(folder_ / "matplotlib.py") << "raise ImportError('no figures')\n";
  succeeded(mpmCommand({"study", "--dataset", "ade20k", folder_.path(), "--model", model_, "--sweep-images", "0", "-o",
                        folder_ / "study"},
                       {.environment = {{"PYTHONPATH", folder_.path()}}}));
  std::set<std::string> reductions;
  for (const auto& line : CommandResult{.out = readFile(folder_ / "study/results.jsonl")}.jsonLines())
    reductions.insert(line["reduce"]);
  EXPECT_THAT(reductions, Contains("tome:count=" + std::to_string(128 * 128 / 2))) << "half of the tokens";
}

TEST(EvalDatasets, RefusesOptionsThatDoNotGoTogether) {
  const std::pair<Words, Words> wrong[] = {{{"--dataset", "kitti", "x"}, {"'kitti' is not one of ade20k|cityscapes"}},
                                           {{"--dataset", "camvid"}, {"--dataset camvid needs its folder"}},
                                           {{"--dataset", "camvid", "x", "--ignore", "3"}, {"leave out", "--ignore"}},
                                           {{"--dataset", "camvid:", "x"}, {"names no part"}}};
  for (const auto& [words, parts] : wrong) expectFailure(mpmCommand(Words{"eval"} + words), 2, parts);
}

}  // namespace
}  // namespace mpm::test
