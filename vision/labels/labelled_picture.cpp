// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/labelled_picture.h"

#include <filesystem>

#include "base/size_text.h"
#include "mpm/error.hpp"
#include "vision/labels/coco.h"
#include "vision/labels/labelme.h"
#include "vision/sources/source.h"

namespace mpm::vision {

namespace fs = std::filesystem;

std::vector<LabelledFile> labelledFiles(const std::string& images, const std::string& labels) {
  if (!fs::is_directory(images)) throw Error("there is no folder of images '" + images + "'");
  std::map<std::string, std::string> pictures;
  for (const std::string& file : sourceFiles(parseSourceSpec(images)))
    pictures.emplace(fs::path(file).stem().string(), file);
  std::vector<LabelledFile> found;
  std::map<std::string, std::string> files = labelMapFiles(labels);
  files.merge(labelMeFiles(labels));
  files.merge(cocoFiles(labels));
  for (const auto& [name, file] : files) {
    const auto picture = pictures.find(name);
    if (picture == pictures.end())
      throw Error("no picture for the label map '" + file + "': there is no " + name + ".png (or .jpg) in '" + images +
                  "'");
    found.push_back({picture->second, file});
  }
  if (found.empty()) throw Error("there are no label maps (PNG, or JSON of LabelMe or COCO) in '" + labels + "'");
  return found;
}

cv::Mat readStoredImage(const std::string& path) {
  return openSource(path, {.apply_exif_rotation = false})->next()->image;
}

LabelledPicture readLabelledPicture(const std::string& image, const std::string& labels, const LabelMeaning& meaning) {
  LabelledPicture picture{readStoredImage(image), readLabelMap(labels)};
  if (picture.labels.size() != picture.image.size())
    throw Error("label map '" + labels + "' is " + toString(Size2{picture.labels.rows, picture.labels.cols}) +
                ", its image " + toString(Size2{picture.image.rows, picture.image.cols}));
  try {
    picture.labels = meaning.applied(picture.labels);
  } catch (const Error& error) {
    throw Error("'" + labels + "': " + error.what());
  }
  return picture;
}

LabelledPicture readLabelledPicture(const LabelledFile& file, const ClassList& classes) {
  if (!file.labels.ends_with(".json"))
    return readLabelledPicture(file.image, file.labels, {{classes.ignore}, 0, classes.count(), classes.ignore});
  const cv::Mat image = readStoredImage(file.image);
  return {image, isCoco(file.labels) ? readCoco(file.labels, fs::path(file.image).stem().string(), classes.classes,
                                                classes.ignore, image.size())
                                     : readLabelMe(file.labels, classes.classes, classes.ignore, image.size())};
}

std::vector<std::string> labelNames(const std::string& path) {
  return isCoco(path) ? cocoNames(path) : labelMeNames(path);
}

}  // namespace mpm::vision
