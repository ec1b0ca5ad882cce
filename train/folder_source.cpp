// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <opencv2/imgproc.hpp>

#include "mpm/error.hpp"
#include "samples.h"
#include "vision/labels/labelled_picture.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;

constexpr const char *kTraining = "training", *kValidation = "validation";

struct Pair {
  std::string image, labels;
  bool from_one = false;  ///< 0 is everything else and 1 the first class
};

std::map<std::string, std::string> filesByStem(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file()) files.emplace(entry->path().stem().string(), entry->path().string());
  if (error) throw Error("cannot read the folder '" + folder.string() + "': " + error.message());
  return files;
}

/// ADE20K as it comes: images/PART/NAME.jpg and annotations/PART/NAME.png, parts training and validation.
bool holdsAde20k(const fs::path& folder, const char* part) {
  std::error_code status;
  return fs::is_directory(folder / "annotations" / part, status);
}

std::vector<Pair> pairsOf(const fs::path& folder, const char* part) {
  const bool ade20k = holdsAde20k(folder, part);
  const fs::path inside = ade20k ? part : "";
  const auto images = filesByStem(folder / "images" / inside);
  const auto labels = filesByStem(folder / (ade20k ? "annotations" : "labels") / inside);
  std::vector<Pair> pairs;
  for (const auto& [stem, image] : images)
    if (const auto found = labels.find(stem); found != labels.end()) pairs.push_back({image, found->second, ade20k});
  if (pairs.empty())
    throw Error("'" + folder.string() +
                "' holds no pairs: it needs images/NAME.jpg (or .png) and labels/NAME.png, or the folders of ADE20K");
  return pairs;
}

class FolderSource : public SampleSource {
 public:
  FolderSource(const FolderOptions& folder, const AugmentationOptions& augmentation, std::uint64_t seed, int ignore)
      : classes_(folder.classes), augmentation_(augmentation), seed_(seed), ignore_(ignore) {
    if (classes_.empty()) throw Error("a folder of images needs a list of classes: name one with --classes");
    const std::vector<Pair> pairs = pairsOf(folder.training, kTraining);
    const bool own = folder.validation.empty() && holdsAde20k(folder.training, kValidation);
    if (own || !folder.validation.empty()) {
      training_ = pairs;
      held_out_ = pairsOf(own ? folder.training : folder.validation, kValidation);
    }
    const bool from_one = pairs.front().from_one || (!held_out_.empty() && held_out_.front().from_one);
    if (from_one && ignore_ < static_cast<int>(classes_.size()))
      throw Error("'" + folder.training +
                  "' has the layout of ADE20K, whose label 0 is ignored: give --ignore a "
                  "label that is no class, 255");
    if (!held_out_.empty()) return;
    for (std::size_t i = 0; i < pairs.size(); ++i) (i % 10 == 9 ? held_out_ : training_).push_back(pairs[i]);
    if (held_out_.empty())
      throw Error("'" + folder.training +
                  "' holds fewer than 10 pairs: name a folder to evaluate on with --validation");
  }

  const std::vector<ClassInfo>& classes() const override { return classes_; }
  int chunkSize() const override { return 1; }
  int heldOutCount() const override { return static_cast<int>(held_out_.size()); }
  bool knowsNight() const override { return false; }

  std::vector<TrainingSample> trainingChunk(std::uint64_t chunk, Size2 size) const override {
    Random random(seed_, chunk);
    const TrainingSample whole = read(training_[imageOf(chunk)]);
    TrainingSample sample =
        randomWindow(whole, size, random.uniform(augmentation_.scale_min, augmentation_.scale_max), ignore_, random);
    augment(sample, augmentation_, random);
    return {sample};
  }

  TrainingSample heldOut(int index, Size2 size) const override {
    TrainingSample sample = read(held_out_.at(static_cast<std::size_t>(index)));
    const cv::Size target(size.width, size.height);
    const bool smaller = target.area() < sample.image.size().area();
    cv::resize(sample.image, sample.image, target, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_LINEAR);
    cv::resize(sample.labels, sample.labels, target, 0, 0, cv::INTER_NEAREST);
    return sample;
  }

 private:
  // Every image once per epoch, in a new order: the images sorted by a hash of the epoch and their number.
  std::size_t imageOf(std::uint64_t chunk) const {
    const std::uint64_t count = training_.size(), epoch = chunk / count, position = chunk % count;
    std::vector<std::pair<std::uint64_t, std::size_t>> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = {Random(seed_ ^ ~epoch, i).bits(), i};
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(position), order.end());
    return order[position].second;
  }

  TrainingSample read(const Pair& pair) const {
    const int offset = pair.from_one ? -1 : 0;
    const auto [image, labels] = vision::readLabelledPicture(
        pair.image, pair.labels, {{ignore_}, offset, static_cast<int>(classes_.size()), ignore_});
    return {image, labels, false};
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
