// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vision/labels/label_files.h"

namespace mpm::vision {

/// Throws mpm::Error unless it is a folder. `of`: what lies in it, such as "images".
void requireFolder(const std::string& path, const std::string& of);

/// What an error says of a picture in a folder of labels that is in another format, such as JPEG. `name`: only of
/// pictures with this stem. Empty: there is none.
std::string otherFormatText(const std::string& folder, const std::string& name = "");

/// The label maps of a folder (PNG, BMP, TIFF) by their stems. Throws mpm::Error naming the folder, or two of one name.
std::map<std::string, std::string> labelMapFiles(const std::string& folder);

/// The meaning of each label in a file: a class, void (pixels that do not count), or nothing that is allowed.
class LabelMeaning {
 public:
  static constexpr int kVoid = -1;

  /// Labels in `ignored` are void; to the others `offset` is added, and what falls below 0 is void. Void becomes
  /// `void_label`, or where that is negative the highest number that no label becomes.
  LabelMeaning(const std::vector<int>& ignored, int offset, int classes, int void_label = -1);
  /// The class of each label, kVoid for those that do not count.
  LabelMeaning(const std::array<int, 256>& class_of_label, int classes);

  /// -1 where nothing is void.
  int voidLabel() const { return void_; }

  /// CV_8U of the same size. Throws mpm::Error naming a label that is neither a class nor void.
  cv::Mat applied(const cv::Mat& labels) const;

 private:
  void chooseVoidLabel();

  int offset_, classes_, void_;
  std::array<int, 256> class_of_{};
};

/// A picture on disk and its labels: a label map, or a file of LabelMe or COCO.
struct LabelledFile {
  std::string image, labels;
  std::shared_ptr<const CocoFile> coco{};  ///< that `labels` holds; null: it is of another kind
};

/// The files in `labels` with the pictures in `images` that have their names. Where both are one folder, it holds no
/// label maps. Throws mpm::Error for none, for labels without a picture, and for a picture or labels that occur twice.
std::vector<LabelledFile> labelledFiles(const std::string& images, const std::string& labels);

/// Labels that were found for pictures, some of which may be elsewhere.
struct FoundLabels {
  std::vector<LabelledFile> files{};
  std::vector<std::string> missing{};  ///< names of pictures that are nowhere
};
/// The same, where pictures may be missing in `images`; some of these are in `known`, a file for each name. Where both
/// folders are one, a PNG file is a label map if it has one channel and its picture is another file or in `known`.
FoundLabels findLabels(const std::string& images, const std::string& labels,
                       const std::map<std::string, std::string>& known);

struct LabelledPicture {
  cv::Mat image;   ///< CV_8UC3 BGR
  cv::Mat labels;  ///< CV_8U, same size
};

/// The labels of a map in this file as what they mean. Throws mpm::Error naming the file where its picture has another
/// size, or a label means nothing. Labels lie over the picture of readPicture().
cv::Mat meantLabels(const cv::Mat& labels, const std::string& file, cv::Size picture, const LabelMeaning& meaning);
/// It and its label map, whose labels are replaced by what they mean. Throws mpm::Error naming the file.
LabelledPicture readLabelledPicture(const std::string& image, const std::string& labels, const LabelMeaning& meaning);
/// Reads a picture whose labels are the classes of a list, or the shapes of LabelMe or COCO.
LabelledPicture readLabelledPicture(const LabelledFile& file, const ClassList& classes);

/// The labels that files of LabelMe and COCO name, each once. Throws mpm::Error naming the file.
std::vector<std::string> labelNames(const std::vector<LabelledFile>& files);

}  // namespace mpm::vision
