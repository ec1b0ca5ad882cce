// SPDX-License-Identifier: Apache-2.0
#include "evaluation/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

namespace fs = std::filesystem;

// The labels that Cityscapes evaluates, in the order of its trainIds.
constexpr std::array<int, 19> kCityscapesIds = {7,  8,  11, 12, 13, 17, 19, 20, 21, 22,
                                                23, 24, 25, 26, 27, 28, 31, 32, 33};

/// Sorted paths in a folder whose names end like this, without hidden ones such as ".DS_Store" and "._a.png".
std::vector<fs::path> filesIn(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(ending) && !name.starts_with('.')) files.push_back(entry->path());
  }
  if (error) throw Error("cannot read the folder '" + folder.string() + "': " + error.message());
  std::ranges::sort(files);
  return files;
}

/// Images with the label maps of `labels` / STEM.png.
std::vector<vision::LabelledFile> pairsIn(const fs::path& images, const std::string& ending, const fs::path& labels) {
  std::vector<vision::LabelledFile> files;
  for (const fs::path& image : filesIn(images, ending))
    files.push_back({image.string(), (labels / (image.stem().string() + ".png")).string()});
  return files;
}

std::vector<vision::LabelledFile> cityscapesFiles(const fs::path& folder, const std::string& split) {
  constexpr const char* kImage = "_leftImg8bit.png";
  std::vector<vision::LabelledFile> files;
  for (const fs::path& city : filesIn(folder / "leftImg8bit" / split, "")) {
    for (const fs::path& image : filesIn(city, kImage)) {
      const std::string name = image.filename().string();
      const std::string scene = name.substr(0, name.size() - std::string(kImage).size());
      files.push_back(
          {image.string(), (folder / "gtFine" / split / city.filename() / (scene + "_gtFine_labelIds.png")).string()});
    }
  }
  return files;
}

std::vector<vision::LabelledFile> pascalContextFiles(const fs::path& folder, const std::string& split) {
  const fs::path list = folder / "ImageSets" / "SegmentationContext" / (split + ".txt");
  std::ifstream names(list);
  if (!names) throw Error("cannot read the list of images '" + list.string() + "'");
  std::vector<vision::LabelledFile> files;
  for (std::string name; names >> name;) {
    files.push_back({(folder / "JPEGImages" / (name + ".jpg")).string(),
                     (folder / "SegmentationClassContext" / (name + ".png")).string()});
  }
  return files;
}

std::vector<vision::LabelledFile> camVidFiles(const fs::path& folder, const std::string& split) {
  if (fs::is_directory(folder / split)) return pairsIn(folder / split, ".png", folder / (split + "annot"));
  if (split != "val") {
    throw Error("'" + folder.string() + "' has no folder '" + split +
                "': folders 'images' and 'labels' are the part 'val'");
  }
  if (fs::is_directory(folder / "images")) return pairsIn(folder / "images", ".png", folder / "labels");
  throw Error("'" + folder.string() + "' has neither a folder 'val' nor a folder 'images'");
}

std::vector<vision::LabelledFile> ade20kFiles(const fs::path& folder, const std::string& split) {
  return pairsIn(folder / "images" / split, ".jpg", folder / "annotations" / split);
}

struct Parts {
  std::string name;
  DatasetProtocol protocol;
  std::vector<vision::LabelledFile> (*files)(const fs::path& folder, const std::string& split);
};

const Parts& partsOf(Dataset dataset) {
  static const Parts all[] = {{"ade20k", {150, "validation", {512, 512}, 480, 512}, ade20kFiles},
                              {"cityscapes", {19, "val", {768, 768}, 512, 1024}, cityscapesFiles},
                              {"pascal-context", {59, "val", {480, 480}, 320, 520}, pascalContextFiles},
                              {"camvid", {11, "val", {}, 0, 0}, camVidFiles}};  // in the order of Dataset
  return all[static_cast<std::size_t>(dataset)];
}

}  // namespace

std::string toString(Dataset dataset) { return partsOf(dataset).name; }

DatasetProtocol protocolOf(Dataset dataset) { return partsOf(dataset).protocol; }

vision::LabelMeaning labelMeaningOf(Dataset dataset) {
  const int classes = protocolOf(dataset).classes;
  if (dataset == Dataset::kCamVid) return {{11, 255}, 0, classes};
  if (dataset != Dataset::kCityscapes) return {{255}, -1, classes};
  std::array<int, 256> class_of_label;
  class_of_label.fill(vision::LabelMeaning::kVoid);
  for (std::size_t c = 0; c < kCityscapesIds.size(); ++c) class_of_label[kCityscapesIds[c]] = static_cast<int>(c);
  return {class_of_label, classes};
}

std::vector<vision::LabelledFile> datasetFiles(Dataset dataset, const std::string& folder, const std::string& split) {
  vision::requireFolder(folder, toString(dataset));
  const std::vector<vision::LabelledFile> files = partsOf(dataset).files(folder, split);
  if (files.empty()) throw Error("'" + folder + "' holds no image of " + toString(dataset) + ", split " + split);
  for (const vision::LabelledFile& file : files) {
    for (const std::string& path : {file.image, file.labels})
      if (!fs::is_regular_file(path)) throw Error("there is no file '" + path + "'");
  }
  return files;
}

std::string filmOf(Dataset dataset, const std::string& image) {
  const std::string name = fs::path(image).stem().string();
  if (dataset == Dataset::kCamVid) return name.substr(0, name.find('_'));  // 0016E5_07959, Seq05VD_f00000
  if (dataset != Dataset::kCityscapes) return name;
  return name.substr(0, name.find('_', name.find('_') + 1));  // frankfurt_000000_000294_leftImg8bit
}

}  // namespace mpm::evaluation
