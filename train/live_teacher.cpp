// SPDX-License-Identifier: Apache-2.0
#include "live_teacher.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <optional>

#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "teach_pictures.h"
#include "vision/labels/label_folder.h"
#include "vision/labels/labelled_picture.h"
#include "vision/labels/next_picture.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;
using cli::Json;

// From random weights 60 steps show the shapes; each stroke after it only has to move them. 4 pictures at 1120 tokens
// take about 20 ms a step on two cores, and an overlay is to be new within 3 s.
constexpr int kFirstSteps = 60, kNextSteps = 25, kBatch = 4;
constexpr float kUnsure = 0.25f;  // the margin of a cell below which it is shown

class LiveTeacher {
 public:
  explicit LiveTeacher(const LiveOptions& options)
      : options_(options),
        path_(teachableModel(options.model)),
        encoder_(path_, readModelInfo(path_, {.reduce = kWhole}), kWhole) {}

  Json answer(const std::string& line) {
    try {
      const JsonValue question(
          line, "a question is {\"picture\": NAME} or {\"candidates\": [FILE, ...], \"count\": N}; this one");
      const auto candidates = question.find("candidates"), count = question.find("count");
      if (!candidates) return answerOn(question.at("picture").text());
      std::vector<std::string> files;
      for (const JsonValue& file : candidates->list()) files.push_back(file.text());
      return nextOf(files, count ? count->integer(1, 1 << 20) : 1);
    } catch (const std::exception& error) {
      return {{"ok", false}, {"why", cli::messageOf(error)}};
    }
  }

 private:
  static inline const Reduction kWhole = {.method = ReductionMethod::kNone};

  struct Known {
    fs::file_time_type written;
    cv::Mat value;
  };

  const cv::Mat& tokensOf(const vision::LabelFolder& folder, const std::string& name) {
    const fs::file_time_type written = fs::last_write_time(folder.picturePath(name));
    Known& known = known_[name];
    if (known.value.empty() || known.written != written) known = {written, encoder_.tokens(folder.picture(name))};
    return known.value;
  }

  // One file may be gone by now, or be no picture.
  const cv::Mat* featureOf(const std::string& file) {
    try {
      const fs::file_time_type written = fs::last_write_time(file);
      Known& known = candidates_[file];
      if (known.value.empty() || known.written != written)
        known = {written, vision::pictureFeature(encoder_.tokens(vision::readStoredImage(file)))};
      return &known.value;
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  Json nextOf(const std::vector<std::string>& files, int count) {
    const vision::LabelFolder folder(options_.folder);
    cv::Mat labelled, candidates;
    for (const std::string& name : folder.labelled())
      labelled.push_back(vision::pictureFeature(tokensOf(folder, name)));
    std::vector<std::string> names;
    for (const std::string& file : files)
      if (const cv::Mat* feature = featureOf(file)) {
        candidates.push_back(*feature);
        names.push_back(file);
      }
    if (names.empty()) throw Error("none of the " + std::to_string(files.size()) + " stored pictures can be read");
    Json next = Json::array();
    for (const vision::NextPicture& one : vision::furthestFirst(candidates, labelled, count))
      next.push_back(names[static_cast<std::size_t>(one.index)]);
    return {{"ok", true}, {"next", next}};
  }

  Json answerOn(const std::string& name) {
    const vision::LabelFolder folder(options_.folder);
    const vision::ClassList& classes = folder.classes();
    const Size2 grid = encoder_.model().grid, size = encoder_.model().input;
    std::vector<TaughtPicture> pictures;
    for (const std::string& labelled : folder.labelled()) {
      const cv::Mat labels = folder.labels(labelled);
      const std::vector<double> pixels = pixelsOfClasses(labels, classes);
      pictures.push_back({{tokensOf(folder, labelled), cellsOf(labels, grid, classes)}, pixels});
    }
    std::vector<double> total(classes.classes.size());
    for (const TaughtPicture& picture : pictures)
      std::transform(total.begin(), total.end(), picture.pixels.begin(), total.begin(), std::plus<>());
    if (std::count_if(total.begin(), total.end(), [](double count) { return count > 0; }) < 2)
      throw Error("label two classes, and training begins");
    const bool goes_on = head_ && head_->classes == classes.count();
    std::vector<const TaughtPicture*> all;
    for (const TaughtPicture& picture : pictures) all.push_back(&picture);
    head_ = trainOn(all, classes, grid,
                    {.steps = goes_on ? kNextSteps : kFirstSteps,
                     .batch = kBatch,
                     .threads = options_.threads,
                     .start = goes_on ? &*head_ : nullptr},
                    [] { return !cli::interrupted(); });
    const cv::Mat& tokens = tokensOf(folder, name);
    const cv::Mat labels = predictLabels(*head_, tokens, grid, size), margins = predictMargins(*head_, tokens, grid);
    Json runs = Json::array();
    const uchar* const first = labels.ptr();
    for (std::size_t i = 0, begin = 0; i <= labels.total(); ++i) {
      if (i < labels.total() && first[i] == first[begin]) continue;
      runs.push_back(first[begin]);
      runs.push_back(i - begin);
      begin = i;
    }
    Json unsure = Json::array();
    for (int i = 0; i < grid.width * grid.height; ++i)
      if (margins.ptr<float>()[i] < kUnsure) unsure.push_back(i);
    return {{"ok", true}, {"picture", name}, {"size", cli::toJson(size)}, {"runs", runs}, {"unsure", unsure}};
  }

  LiveOptions options_;
  std::string path_;
  FrozenEncoder encoder_;
  std::map<std::string, Known> known_;       // tokens, by name
  std::map<std::string, Known> candidates_;  // features, by file
  std::optional<TokenHead> head_;
};

}  // namespace

int teachLive(const LiveOptions& options) {
  LiveTeacher teacher(options);
  for (std::string line; !cli::interrupted() && std::getline(std::cin, line);) cli::printLine(teacher.answer(line));
  return cli::kOk;
}

}  // namespace mpm::train
