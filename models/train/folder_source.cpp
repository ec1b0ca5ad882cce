// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "mpm/error.hpp"
#include "samples.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;

struct Pair {
  std::string image, labels;
};

std::map<std::string, std::string> filesByStem(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file()) files.emplace(entry->path().stem().string(), entry->path().string());
  if (error) throw Error("cannot read the folder '" + folder.string() + "': " + error.message());
  return files;
}

std::vector<Pair> pairsOf(const std::string& folder) {
  const auto images = filesByStem(fs::path(folder) / "images"), labels = filesByStem(fs::path(folder) / "labels");
  std::vector<Pair> pairs;
  for (const auto& [stem, image] : images)
    if (const auto found = labels.find(stem); found != labels.end()) pairs.push_back({image, found->second});
  if (pairs.empty())
    throw Error("'" + folder + "' holds no pairs: it needs images/NAME.jpg (or .png) and labels/NAME.png");
  return pairs;
}

class FolderSource : public SampleSource {
 public:
  FolderSource(const FolderOptions& folder, const AugmentationOptions& augmentation, std::uint64_t seed, int ignore)
      : classes_(folder.classes), augmentation_(augmentation), seed_(seed), ignore_(ignore) {
    if (classes_.empty()) throw Error("a folder of images needs a list of classes: name one with --classes");
    const std::vector<Pair> pairs = pairsOf(folder.training);
    if (!folder.validation.empty()) {
      training_ = pairs;
      held_out_ = pairsOf(folder.validation);
      return;
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) (i % 10 == 9 ? held_out_ : training_).push_back(pairs[i]);
    if (held_out_.empty())
      throw Error("'" + folder.training +
                  "' holds fewer than 10 pairs: name a folder to evaluate on with --validation");
  }

  const std::vector<ClassInfo>& classes() const override { return classes_; }
  int chunkSize() const override { return 1; }
  int heldOutCount() const override { return static_cast<int>(held_out_.size()); }
  bool knowsNight() const override { return false; }

  std::vector<Sample> trainingChunk(std::uint64_t chunk, Size2 size) const override {
    Random random(seed_, chunk);
    const Sample whole = read(training_[imageOf(chunk)]);
    Sample sample =
        randomWindow(whole, size, random.uniform(augmentation_.scale_min, augmentation_.scale_max), ignore_, random);
    augment(sample, augmentation_, random);
    return {sample};
  }

  Sample heldOut(int index, Size2 size) const override {
    Sample sample = read(held_out_.at(static_cast<std::size_t>(index)));
    const cv::Size target(size.width, size.height);
    const bool smaller = target.area() < sample.image.size().area();
    cv::resize(sample.image, sample.image, target, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_LINEAR);
    cv::resize(sample.labels, sample.labels, target, 0, 0, cv::INTER_NEAREST);
    return sample;
  }

 private:
  // Every image once per epoch, in an order of its own: the images sorted by a hash of the epoch and their number.
  std::size_t imageOf(std::uint64_t chunk) const {
    const std::uint64_t count = training_.size(), epoch = chunk / count, position = chunk % count;
    std::vector<std::pair<std::uint64_t, std::size_t>> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = {Random(seed_ ^ ~epoch, i).bits(), i};
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(position), order.end());
    return order[position].second;
  }

  Sample read(const Pair& pair) const {
    Sample sample{cv::imread(pair.image, cv::IMREAD_COLOR), cv::imread(pair.labels, cv::IMREAD_UNCHANGED), false};
    if (sample.image.empty()) throw Error("cannot read the image '" + pair.image + "'");
    if (sample.labels.empty()) throw Error("cannot read the label map '" + pair.labels + "'");
    if (sample.labels.type() != CV_8U)
      throw Error("the label map '" + pair.labels + "' is not an 8-bit grey image of class indices");
    if (sample.labels.size() != sample.image.size())
      throw Error("'" + pair.labels + "' and its image are of different sizes");
    const auto classes = static_cast<std::uint8_t>(classes_.size());
    const cv::Mat unknown = (sample.labels >= classes) & (sample.labels != ignore_);
    if (cv::countNonZero(unknown) > 0) {
      double label = 0;
      cv::minMaxLoc(sample.labels, nullptr, &label, nullptr, nullptr, unknown);
      throw Error("'" + pair.labels + "' holds the label " + std::to_string(static_cast<int>(label)) +
                  ", but there are " + std::to_string(classes) + " classes and " + std::to_string(ignore_) +
                  " is ignored");
    }
    return sample;
  }

  std::vector<ClassInfo> classes_;
  AugmentationOptions augmentation_;
  std::uint64_t seed_;
  int ignore_;
  std::vector<Pair> training_, held_out_;
};

}  // namespace

std::unique_ptr<SampleSource> openFolder(const FolderOptions& folder, const AugmentationOptions& augmentation,
                                         std::uint64_t seed, int ignore) {
  return std::make_unique<FolderSource>(folder, augmentation, seed, ignore);
}

}  // namespace mpm::train
