// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/labelled_picture.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <filesystem>
#include <functional>
#include <set>

#include "base/atomic_file.h"
#include "vision/labels/shapes.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

// Sorted, without hidden ones: macOS writes "._a.png" beside "a.png" on disks of other systems.
std::vector<fs::path> filesIn(const std::string& folder, std::error_code& error) {
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!entry->path().filename().string().starts_with('.')) files.push_back(entry->path());
  std::ranges::sort(files);
  return files;
}

constexpr std::uintmax_t kMaxShapes = 512U << 20;  // bytes: more than the largest file of COCO's own

// Labels by the names of their pictures; LabelledFile::image is not known yet. `is_map`: whether an image file is a
// label map.
std::map<std::string, LabelledFile> labelFiles(const std::string& folder,
                                               const std::function<bool(const std::string& file)>& is_map) {
  std::map<std::string, LabelledFile> found;
  const auto add = [&](const std::string& name, const LabelledFile& labels) {
    const auto [other, fresh] = found.try_emplace(name, labels);
    if (!fresh) {
      throw Error("there are two labels for '" + name + "': '" + other->second.labels + "' and '" + labels.labels +
                  "'; keep one of them");
    }
  };
  for (const auto& [name, file] : labelMapFiles(folder))
    if (is_map(file)) add(name, {{}, file});
  std::error_code error;  // labelMapFiles() says it
  for (const fs::path& path : filesIn(folder, error)) {
    if (path.extension() != ".json") continue;
    const std::string file = path.string();
    const JsonValue json = readJsonFile(file, kMaxShapes);
    if (isLabelMe(json)) add(path.stem().string(), {{}, file});
    if (!isCoco(json)) continue;
    const auto coco = std::make_shared<const CocoFile>(json);
    for (const std::string& name : coco->pictures()) add(name, {{}, file, coco});
  }
  return found;
}

using Pictures = std::map<std::string, std::vector<std::string>>;  // files by their names

Pictures picturesIn(const std::string& folder) {
  requireFolder(folder, "images");
  Pictures pictures;
  std::error_code error;
  for (const fs::path& path : filesIn(folder, error))
    if (isImageFile(path.string())) pictures[path.stem().string()].push_back(path.string());
  return pictures;
}

// The one of this name; empty: there is none.
std::string onlyPicture(const Pictures& pictures, const std::string& name) {
  const auto own = pictures.find(name);
  if (own == pictures.end() || own->second.empty()) return {};
  if (own->second.size() > 1)
    throw Error("there are two pictures '" + own->second[0] + "' and '" + own->second[1] + "': keep one of them");
  return own->second[0];
}

bool hasFormatOfLabelMaps(const fs::path& file) {
  const std::string extension = boost::algorithm::to_lower_copy(file.extension().string());
  return extension == ".png" || extension == ".bmp" || extension == ".tif" || extension == ".tiff";
}

[[noreturn]] void refuseWithout(const std::string& folder) {
  throw Error("there are no label maps (PNG, or JSON of LabelMe or COCO) in '" + folder + "'" +
              otherFormatText(folder));
}

bool isLabelMap(const std::string& file) {
  try {
    readLabelMap(file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void requireFolder(const std::string& path, const std::string& of) {
  if (!fs::is_directory(path))
    throw Error("there is no folder of " + of + " '" + path + "': name a folder, no file, list or pattern");
}

std::string otherFormatText(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const fs::path& path : filesIn(folder, error)) {
    if (isImageFile(path.string()) && !hasFormatOfLabelMaps(path) && (name.empty() || path.stem() == name))
      return "; '" + path.filename().string() + "' is no label map: write it as PNG, which keeps labels exactly";
  }
  return {};
}

std::map<std::string, std::string> labelMapFiles(const std::string& folder) {
  requireFolder(folder, "labels");
  std::map<std::string, std::string> labels;
  std::error_code error;
  for (const fs::path& path : filesIn(folder, error)) {
    if (!hasFormatOfLabelMaps(path)) continue;
    const auto [other, fresh] = labels.emplace(path.stem().string(), path.string());
    if (!fresh)
      throw Error("two label maps for '" + other->first + "': '" + other->second + "' and '" + path.string() + "'");
  }
  if (error) throw Error("cannot read the folder of labels '" + folder + "': " + error.message());
  return labels;
}

LabelMeaning::LabelMeaning(const std::vector<int>& ignored, int offset, int classes, int void_label)
    : offset_(offset), classes_(classes), void_(void_label < 0 ? 255 : void_label) {
  for (int label = 0; label < 256; ++label) {
    const bool is_ignored = std::ranges::find(ignored, label) != ignored.end();
    class_of_[label] = is_ignored ? kVoid : std::max(label + offset, kVoid);
  }
  if (void_label < 0) chooseVoidLabel();
}

LabelMeaning::LabelMeaning(const std::array<int, 256>& class_of_label, int classes)
    : offset_(0), classes_(classes), void_(255), class_of_(class_of_label) {
  chooseVoidLabel();
}

void LabelMeaning::chooseVoidLabel() {
  while (void_ >= 0 && std::ranges::find(class_of_, void_) != class_of_.end()) --void_;
}

cv::Mat LabelMeaning::applied(const cv::Mat& labels) const {
  std::array<bool, 256> occurs{};
  for (int y = 0; y < labels.rows; ++y)
    for (int x = 0; x < labels.cols; ++x) occurs[labels.ptr<unsigned char>(y)[x]] = true;
  cv::Mat table(1, 256, CV_8U, cv::Scalar(0)), classes;
  for (int label = 0; label < 256; ++label) {
    const int value = class_of_[label];
    if (value >= classes_ && occurs[label]) {
      throw Error("the label map holds the label " + std::to_string(label) +
                  (offset_ == 0 ? "" : ", with the offset " + std::to_string(value)) +
                  ", which is neither one of the " + std::to_string(classes_) + " classes nor ignored");
    }
    table.at<unsigned char>(label) = static_cast<unsigned char>(value == kVoid ? void_ : value);
  }
  cv::LUT(labels, table, classes);
  return classes;
}

std::vector<LabelledFile> labelledFiles(const std::string& images, const std::string& labels) {
  const Pictures pictures = picturesIn(images);
  if (pictures.empty()) (void)sourceFiles(parseSourceSpec(images));  // says so
  std::vector<LabelledFile> found;
  const bool one = sameFile(images, labels);
  for (auto& [name, file] : labelFiles(labels, [one](const std::string&) { return !one; })) {
    file.image = onlyPicture(pictures, name);
    if (file.image.empty()) {
      throw Error("no picture for the labels '" + file.labels + "': there is no " + name + ".png (or .jpg) in '" +
                  images + "'");
    }
    found.push_back(std::move(file));
  }
  if (found.empty()) refuseWithout(labels);
  return found;
}

FoundLabels findLabels(const std::string& images, const std::string& labels,
                       const std::map<std::string, std::string>& known) {
  Pictures pictures = picturesIn(images);
  std::set<std::string> maps;
  // In a folder of label maps alone, one that is no picture of the list lacks its picture.
  const bool only_maps = !known.empty() && labelFiles(labels, [](const std::string&) { return false; }).empty() &&
                         std::ranges::all_of(pictures, [&](const auto& one) { return isLabelMap(one.second[0]); });
  if (sameFile(images, labels)) {
    for (auto& [name, files] : pictures) {
      const auto map = std::ranges::find_if(files, isLabelMap);
      if (map == files.end() || (files.size() == 1 && !only_maps && !known.contains(name))) continue;
      maps.insert(*map);
      files.erase(map);
    }
  }
  const bool one = !maps.empty() || sameFile(images, labels);
  FoundLabels found;
  for (auto& [name, file] : labelFiles(labels, [&](const std::string& path) { return !one || maps.contains(path); })) {
    file.image = onlyPicture(pictures, name);
    if (const auto own = known.find(name); file.image.empty() && own != known.end()) file.image = own->second;
    if (file.image.empty())
      found.missing.push_back(name);
    else
      found.files.push_back(std::move(file));
  }
  if (found.files.empty() && found.missing.empty()) refuseWithout(labels);
  return found;
}

cv::Mat meantLabels(const cv::Mat& labels, const std::string& file, cv::Size picture, const LabelMeaning& meaning) {
  if (labels.size() != picture) throw Error("label map '" + file + "' is " + sizesText(labels.size(), picture));
  try {
    return meaning.applied(labels);
  } catch (const Error& error) {
    throw Error("'" + file + "': " + error.what());
  }
}

LabelledPicture readLabelledPicture(const std::string& image, const std::string& labels, const LabelMeaning& meaning) {
  const cv::Mat picture = readPicture(image);
  return {picture, meantLabels(readLabelMap(labels), labels, picture.size(), meaning)};
}

LabelledPicture readLabelledPicture(const LabelledFile& file, const ClassList& classes) {
  if (!file.labels.ends_with(".json"))
    return readLabelledPicture(file.image, file.labels, {{classes.ignore}, 0, classes.count(), classes.ignore});
  const cv::Mat image = readPicture(file.image);
  const cv::Size size = image.size();
  return {image, file.coco
                     ? file.coco->labels(fs::path(file.image).stem().string(), classes.classes, classes.ignore, size)
                     : readLabelMe(readJsonFile(file.labels, kMaxShapes), classes.classes, classes.ignore, size)};
}

std::vector<std::string> labelNames(const std::vector<LabelledFile>& files) {
  std::vector<std::string> names;
  const CocoFile* last = nullptr;
  for (const LabelledFile& file : files) {
    if (!file.labels.ends_with(".json") || (file.coco && file.coco.get() == last)) continue;
    last = file.coco.get();
    for (const std::string& name : last ? last->names() : labelMeNames(readJsonFile(file.labels, kMaxShapes)))
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace mpm::vision
