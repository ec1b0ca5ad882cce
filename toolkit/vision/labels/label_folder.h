// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "vision/labels/labelled_picture.h"

namespace mpm::vision {

/// A folder of labelled pictures as `mpm teach --images FOLDER/pictures --labels FOLDER/labels --classes
/// FOLDER/classes.json` takes it. Files are written whole or not at all: after a kill it is as before a change or as
/// after it. All methods but const ones throw mpm::Error in one line and leave it as it was; but where the disk fills,
/// import() leaves what it has written, and takes the rest when it is called again. Not thread-safe.
class LabelFolder {
 public:
  enum class Access { kRead, kWrite };

  /// A folder that is not there is empty; the first change makes it. kWrite: finishes a mergeClass() that was killed.
  /// Throws mpm::Error for a classes.json that cannot be read.
  explicit LabelFolder(std::string path, Access access = Access::kRead);

  std::string picturesPath() const;
  std::string labelsPath() const;
  std::string classesPath() const;

  const ClassList& classes() const { return classes_; }
  /// The names of the pictures, ascending.
  std::vector<std::string> pictures() const;
  /// Those that have labels.
  std::vector<std::string> labelled() const;
  std::string picturePath(const std::string& name) const;
  cv::Mat picture(const std::string& name) const;
  /// CV_8U, as large as the picture; ClassList::ignore where nothing is labelled. Throws mpm::Error naming the file
  /// when it has another size or holds a label that is no class.
  cv::Mat labels(const std::string& name) const;

  /// Adds a picture; returns its name, which is `name` or, where that is taken, "name_2".
  std::string addPicture(const std::string& name, const cv::Mat& image, Readers readers = Readers::kByUmask);
  /// Removes a picture and its labels.
  void removePicture(const std::string& name);
  /// Writes the labels of a picture; where nothing is labelled there is no file.
  void saveLabels(const std::string& name, const cv::Mat& labels);
  /// Other names and colours, or more classes. The numbers of the classes stay, so there cannot be fewer.
  void setClasses(const std::vector<ClassInfo>& classes);
  /// Takes a class away: its labels become those of `into`, nullopt: not labelled. Rewrites all label maps.
  void mergeClass(int from, std::optional<int> into);
  /// Takes the labels of another folder: files of LabelMe or COCO, or label maps, in the folder or in its labels/. They
  /// belong to the pictures of their names, which are copied from the folder or its images/ or pictures/, or which this
  /// folder has already: labels that these have stay, and gaps are filled. A picture that differs from the one of the
  /// same name here gets another name, and whom a file is kept from cannot read its copy. Classes that the files name
  /// are added; label maps need their classes.json in the folder while this one has no classes. Throws also where no
  /// label has a picture. Returns what was labelled, and the names of labels whose picture is neither there nor here.
  FoundLabels import(const std::string& folder);

 private:
  std::map<std::string, std::string> pictureFiles() const;
  // `taken`: pictureFiles(), to which the new one is added; so many can be added without reading the folder each time.
  std::string addPicture(const std::string& name, const cv::Mat& image, Readers readers,
                         std::map<std::string, std::string>& taken) const;
  void beginChange() const;
  void finishRewrite() const;

  std::string path_;
  ClassList classes_;
};

}  // namespace mpm::vision
