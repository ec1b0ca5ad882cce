// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: bytes through the readers of one kind of file. Whatever they are, the outcome is a value or an
// mpm::Error in one line. Run: fuzz_files coco -dict=tests/data/fuzz/json.dict CORPUS tests/data/fuzz/coco
#include <cstdlib>
#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "base/class_json.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "cli/manifest.h"
#include "cli/verb_options.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/measurement.h"
#include "evaluation/states.h"
#include "mpm/error.hpp"
#include "mpm/reuse.hpp"
#include "onnx/model/model_info_json.h"
#include "support/temporary_folder.h"
#include "vision/labels/classes.h"
#include "vision/labels/labelled_picture.h"
#include "vision/pictures/pictures.h"
#include "vision/regions/region.h"
#include "vision/sources/source.h"
#include "vision/times/picture_times.h"

namespace {

using mpm::JsonValue;

const std::vector<mpm::ClassInfo> kClasses = {{"a"}, {"b"}};
constexpr int kVoid = 255;

void require(bool holds) {
  if (!holds) std::abort();
}

// What the work gives, or nothing and an error in one line.
template <class Work>
void tried(Work&& work) {
  try {
    work();
  } catch (const mpm::Error& error) {
    require(std::string(error.what()).find_first_of("\n\x1b") == std::string::npos);
  }
}

// The path of a file of this name that holds the text.
std::string fileOf(const std::string& name, const std::string& text) {
  static const mpm::test::TemporaryFolder folder;
  std::ofstream(folder / name, std::ios::binary) << text;
  return folder / name;
}

void classes(const std::string& text) {
  const auto read = mpm::classesFromJson({text, "it"});
  require(mpm::classesFromJson({mpm::toJson(read).dump(), "again"}).size() == read.size());
  mpm::vision::readClassList(fileOf("classes.json", text)).validate("it");
}

void labelme(const std::string& text) {
  const JsonValue json(text, "it");
  mpm::vision::labelMeNames(json);
  const cv::Mat labels = mpm::vision::readLabelMe(json, kClasses, kVoid, {48, 32});
  require(cv::countNonZero((labels > 1) & (labels != kVoid)) == 0);
}

void coco(const std::string& text) {
  const mpm::vision::CocoFile file(JsonValue(text, "it"));
  file.names();
  for (const std::string& name : file.pictures()) {
    const cv::Mat labels = file.labels(name, kClasses, kVoid, {6, 4});
    require(cv::countNonZero((labels > 1) & (labels != kVoid)) == 0);
  }
}

void results(const std::string& text) {
  tried([&] { mpm::cli::readJsonLines(fileOf("result.jsonl", text), {"model"}); });
  const auto one = mpm::evaluation::Measurement::read(JsonValue(text, "it"));
  mpm::evaluation::VariantResult twice(256);
  for (int i = 0; i < 2; ++i) twice.add(one);
  require(twice.all.images() == 2);
}

void regions(const std::string& text) {
  tried([&] { mpm::vision::readRegions(fileOf("regions.json", text)); });
  const mpm::vision::Region region = mpm::vision::regionFromJson({text, "it"}, "");
  mpm::vision::check({region});
  constexpr int kMaxArea = 1 << 20;
  if (region.size.area() <= kMaxArea) require(mpm::vision::maskOf(region, region.size).size() == region.size);
  const JsonValue again(mpm::vision::toJson(region).dump(), "again");
  require(mpm::vision::regionFromJson(again, "").name == region.name);
}

// Lines of JSON: what a run noted of its images.
void lines(const std::string& text) {
  const std::string path = fileOf("lines.jsonl", text);
  const auto all = mpm::cli::readJsonLines(path, {"model"});
  if (all.empty()) return;
  const mpm::cli::Manifest manifest(path, all[0].json(), {"a", "b"});
  require(manifest.entries().size() + 1 == all.size() && all.size() <= 3);
}

void states(const std::string& text) {
  const std::string path = fileOf("states.json", text);
  tried([&] {
    mpm::evaluation::StatesJob job;
    mpm::evaluation::readStateExamples(path, {}, job);
  });
  const mpm::evaluation::StateHead head = mpm::evaluation::readStates(path);
  require(head.weights.rows == static_cast<int>(head.states.size()));
  mpm::vision::check(head.regions);
  mpm::evaluation::writeStates(path, head);
  require(mpm::evaluation::readStates(path).verdict.answers.size() == head.verdict.answers.size());
}

void model(const std::string& text) {
  const std::string path = fileOf("model.json", text);
  tried([&] { mpm::onnx_graph::readFacts(path); });
  const mpm::ModelInfo info = mpm::onnx_graph::fromJson(text);
  require(mpm::onnx_graph::fromJson(mpm::onnx_graph::toJson(info)).outputs == info.outputs);
}

// Lists of comma-separated values, and texts of a person.
void lists(const std::string& text) {
  const std::string path = fileOf("list.csv", text);
  tried([&] { require(!mpm::vision::readTimeList(path).empty()); });
  tried([&] { require(!mpm::vision::readRegions(path).empty()); });
  tried([&] {
    mpm::evaluation::StatesJob job;
    mpm::evaluation::readStateExamples(path, {}, job);
  });
  const std::string word = text.substr(0, text.find_first_of("\n\x1b"));
  mpm::vision::timeOfIso(word);
  mpm::vision::timeInName(word);
  mpm::vision::parseSourceSpec(word).shownText();
  tried([&] { mpm::vision::CameraClock{word}; });
  tried([&] { require(mpm::vision::toString(mpm::vision::parseTimes(word)) == word); });
  tried([&] { require(mpm::cli::parseShard(word).of > 0); });
  tried([&] { mpm::parseSize(word); });
  tried([&] { mpm::parseDeviceSpec(word); });
  tried([&] { mpm::parseReuse(mpm::toString(mpm::parseReuse(word))); });
  mpm::parseReduction(mpm::toString(mpm::parseReduction(word)));
}

void pictures(const std::string& text) {
  const std::string path = fileOf("picture.png", text);
  mpm::vision::exifTime(path);
  tried([&] { mpm::vision::readLabelMap(path); });
  mpm::vision::readPictureFile(path, 0);
}

void (*reader)(const std::string& text);

}  // namespace

// The codecs are OpenCV's, and not in question here.
cv::Mat cv::imdecode(cv::InputArray, int) { return {4, 6, CV_8UC3, cv::Scalar(1)}; }

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const std::map<std::string, decltype(reader)> readers = {
      {"classes", classes}, {"labelme", labelme}, {"coco", coco},   {"results", results},   {"regions", regions},
      {"lines", lines},     {"states", states},   {"model", model}, {"pictures", pictures}, {"lists", lists}};
  if (*count < 2 || !readers.contains((*arguments)[1])) return std::abort(), 1;
  reader = readers.at((*arguments)[1]);
  (*arguments)[1] = (*arguments)[0];  // the others are libFuzzer's
  ++*arguments;
  --*count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size), shown = mpm::visibleText(text, 80);
  require(shown.find_first_of("\n\x1b\x7f") == std::string::npos && mpm::visibleText(shown, 80) == shown);
  tried([&] { reader(text); });
  return 0;
}
