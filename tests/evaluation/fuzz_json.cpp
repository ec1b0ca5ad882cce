// SPDX-License-Identifier: Apache-2.0
// libFuzzer targets: bytes through a reader of JSON, one target each (MPM_FUZZ_READER). Whatever they are, the outcome
// is a value or an mpm::Error in one line. Run: fuzz_coco -dict=tests/data/fuzz/json.dict CORPUS tests/data/fuzz/coco
#include <cstdlib>

#include "base/class_json.h"
#include "base/visible_text.h"
#include "evaluation/scores.h"
#include "mpm/error.hpp"
#include "vision/labels/coco.h"
#include "vision/labels/labelled_picture.h"
#include "vision/labels/labelme.h"
#include "vision/regions/region_json.h"

namespace {

using mpm::JsonValue;

const std::vector<mpm::ClassInfo> kClasses = {{"a"}, {"b"}};
constexpr int kVoid = 255;

void require(bool holds) {
  if (!holds) std::abort();
}

[[maybe_unused]] void classes(const JsonValue& json) {
  const auto read = mpm::classesFromJson(json);
  require(mpm::classesFromJson({mpm::toJson(read).dump(), "again"}).size() == read.size());
}

[[maybe_unused]] void labelme(const JsonValue& json) {
  mpm::vision::labelMeNames(json);
  const cv::Mat labels = mpm::vision::readLabelMe(json, kClasses, kVoid, {48, 32});
  require(cv::countNonZero((labels > 1) & (labels != kVoid)) == 0);
}

[[maybe_unused]] void coco(const JsonValue& json) {
  const mpm::vision::CocoFile file(json);
  file.names();
  for (const std::string& name : file.pictures()) {
    const cv::Mat labels = file.labels(name, kClasses, kVoid, {6, 4});
    require(cv::countNonZero((labels > 1) & (labels != kVoid)) == 0);
  }
}

[[maybe_unused]] void results(const JsonValue& json) {
  const mpm::evaluation::Scores scores(json, {"a", "b"});
  mpm::evaluation::Scores twice(2, -1);
  for (int i = 0; i < 2; ++i) twice.add(scores);
  require(twice.matrix().count(0, 0) == 2 * scores.matrix().count(0, 0));
}

[[maybe_unused]] void regions(const JsonValue& json) {
  const mpm::vision::Region region = mpm::vision::regionFromJson(json, "");
  mpm::vision::check({region});
  constexpr int kMaxArea = 1 << 20;
  if (region.size.area() <= kMaxArea) require(mpm::vision::maskOf(region, region.size).size() == region.size);
  const JsonValue again(mpm::vision::toJson(region).dump(), "again");
  require(mpm::vision::regionFromJson(again, "").name == region.name);
}

}  // namespace

// A mask in a picture of its own is not read here.
cv::Mat mpm::vision::readStoredImage(const std::string&) { std::abort(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size), shown = mpm::visibleText(text, 80);
  require(shown.find_first_of("\n\x1b\x7f") == std::string::npos && mpm::visibleText(shown, 80) == shown);
  try {
    MPM_FUZZ_READER(JsonValue(text, "it"));
  } catch (const mpm::Error& error) {
    require(std::string(error.what()).find_first_of("\n\x1b") == std::string::npos);
  }
  return 0;
}
