// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_folder.h"

#include <algorithm>
#include <filesystem>

#include "vision/pictures/pictures.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

// A change of all label maps is prepared in the first and takes effect when it is renamed to the second. From there the
// files only have to be moved, which can be done again after a kill.
constexpr const char *kPrepared = "labels.part", *kComplete = "labels.new";

std::string in(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

bool isSame(const cv::Mat& a, const cv::Mat& b) { return a.size() == b.size() && cv::norm(a, b, cv::NORM_INF) == 0; }

// Throws mpm::Error that says what was to be done.
template <typename Work>
void onDisk(const std::string& what, Work&& work) {
  try {
    work();
  } catch (const fs::filesystem_error& error) {
    throw Error("cannot " + what + ": " + error.code().message());
  }
}

}  // namespace

LabelFolder::LabelFolder(std::string path, Access access) : path_(std::move(path)) {
  if (access == Access::kWrite) finishRewrite();
  if (!fs::exists(classesPath())) return;
  classes_ = readClassList(classesPath());
  classes_.validate("'" + classesPath() + "'");
}

std::string LabelFolder::picturesPath() const { return in(path_, "pictures"); }
std::string LabelFolder::labelsPath() const { return in(path_, "labels"); }
std::string LabelFolder::classesPath() const { return in(path_, "classes.json"); }

std::map<std::string, std::string> LabelFolder::pictureFiles() const {
  std::map<std::string, std::string> files;
  std::error_code error;  // none yet: there are no pictures
  for (fs::directory_iterator entry(picturesPath(), error), end; !error && entry != end; entry.increment(error))
    if (isImageFile(entry->path().string())) files.emplace(entry->path().stem().string(), entry->path().string());
  return files;
}

std::vector<std::string> LabelFolder::pictures() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : pictureFiles()) names.push_back(name);
  return names;
}

std::vector<std::string> LabelFolder::labelled() const {
  std::vector<std::string> names = pictures();
  std::erase_if(names, [this](const std::string& name) { return !fs::exists(in(labelsPath(), name + ".png")); });
  return names;
}

std::string LabelFolder::picturePath(const std::string& name) const {
  for (const char* usual : {".png", ".jpg"})
    if (const std::string file = in(picturesPath(), name + usual); fs::exists(file)) return file;
  const auto files = pictureFiles();
  const auto file = files.find(name);
  if (file == files.end()) throw Error("there is no picture '" + name + "' in '" + picturesPath() + "'");
  return file->second;
}

cv::Mat LabelFolder::picture(const std::string& name) const { return readPicture(picturePath(name)); }

cv::Mat LabelFolder::labels(const std::string& name) const {
  const std::string file = in(labelsPath(), name + ".png");
  if (fs::exists(file)) return readLabelledPicture({picturePath(name), file}, classes_).labels;
  return cv::Mat(picture(name).size(), CV_8U, cv::Scalar(classes_.ignore));
}

void LabelFolder::beginChange() const {
  finishRewrite();
  onDisk("make the folder '" + path_ + "'", [this] {
    for (const std::string& folder : {picturesPath(), labelsPath()}) fs::create_directories(folder);
  });
}

std::string LabelFolder::addPicture(const std::string& name, const cv::Mat& image, Readers readers) {
  beginChange();
  auto taken = pictureFiles();
  return addPicture(name, image, readers, taken);
}

std::string LabelFolder::addPicture(const std::string& name, const cv::Mat& image, Readers readers,
                                    std::map<std::string, std::string>& taken) const {
  std::string free = name;
  for (int i = 2; taken.contains(free); ++i) free = name + "_" + std::to_string(i);
  const std::string file = in(picturesPath(), free + ".png");
  writePicture(file, image, readers);
  taken.emplace(free, file);
  return free;
}

void LabelFolder::removePicture(const std::string& name) {
  beginChange();
  onDisk("remove the picture '" + name + "'", [&] {
    const std::string file = picturePath(name);
    fs::remove(in(labelsPath(), name + ".png"));  // first: labels without a picture are an error
    fs::remove(file);
  });
}

void LabelFolder::saveLabels(const std::string& name, const cv::Mat& labels) {
  beginChange();
  const std::string file = in(labelsPath(), name + ".png");
  if (cv::countNonZero(labels != classes_.ignore) > 0) return writePicture(file, labels);
  onDisk("remove '" + file + "'", [&] { fs::remove(file); });
}

void LabelFolder::setClasses(const std::vector<ClassInfo>& classes) {
  ClassList next{classes, classes_.ignore};
  if (next.count() < classes_.count()) throw Error("labels of a class that is left out would have no meaning");
  next.validate("the list of classes");
  beginChange();
  writeClassList(classesPath(), next);
  classes_ = next;
}

void LabelFolder::mergeClass(int from, std::optional<int> into) {
  beginChange();
  ClassList next = classes_;
  next.classes.erase(next.classes.begin() + from);
  const auto after = [from](int label) { return label > from ? label - 1 : label; };
  cv::Mat table(1, 256, CV_8U);
  for (int label = 0; label < 256; ++label)
    table.at<uchar>(label) = static_cast<uchar>(label >= classes_.count() ? label : after(label));
  table.at<uchar>(from) = static_cast<uchar>(into ? after(*into) : classes_.ignore);

  const std::string prepared = in(path_, kPrepared);
  try {
    onDisk("rewrite the labels in '" + path_ + "'", [&] {
      fs::create_directories(prepared);
      for (const std::string& name : labelled()) {
        cv::Mat changed;
        cv::LUT(labels(name), table, changed);
        writePicture(in(prepared, name + ".png"), changed);
      }
      writeClassList(in(prepared, "classes.json"), next);
      fs::rename(prepared, in(path_, kComplete));
    });
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(prepared, ignored);
    throw;
  }
  classes_ = next;
  finishRewrite();
}

void LabelFolder::finishRewrite() const {
  const fs::path complete = in(path_, kComplete);
  onDisk("finish the change of all labels in '" + path_ + "'", [&] {
    fs::remove_all(in(path_, kPrepared));
    if (!fs::exists(complete)) return;
    for (const auto& entry : fs::directory_iterator(complete))
      if (entry.path().extension() == ".png") fs::rename(entry.path(), in(labelsPath(), entry.path().filename()));
    if (fs::exists(complete / "classes.json")) fs::rename(complete / "classes.json", classesPath());
    fs::remove(complete);
  });
}

FoundLabels LabelFolder::import(const std::string& folder) {
  const auto inside = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (fs::is_directory(in(folder, name))) return in(folder, name);
    return folder;
  };
  auto taken = pictureFiles();
  FoundLabels found = findLabels(inside({"pictures", "images"}), inside({"labels"}), taken);
  if (found.files.empty()) {
    throw Error("there is no picture for the labels '" + found.missing.front() + "'" +
                (found.missing.size() > 1 ? " and " + std::to_string(found.missing.size() - 1) + " others" : "") +
                ": add the pictures first, under the same names");
  }
  ClassList list = classes_;
  const std::string classes = in(folder, "classes.json");
  if (list.classes.empty() && fs::exists(classes)) list.classes = readClassList(classes).classes;
  for (const std::string& name : labelNames(found.files)) {
    if (std::ranges::none_of(list.classes, [&](const auto& one) { return one.name == name; }))
      list.classes.push_back({name});
  }
  list.validate("'" + folder + "'");
  for (const LabelledFile& file : found.files) readLabelledPicture(file, list);  // all are right before one is written
  setClasses(list.classes);
  for (const LabelledFile& file : found.files) {
    LabelledPicture picture = readLabelledPicture(file, list);
    std::string name = fs::path(file.image).stem().string();
    if (!taken.contains(name) || !isSame(picture.image, this->picture(name)))
      name = addPicture(name, picture.image, readersOf(file.image), taken);
    const cv::Mat own = labels(name);
    own.copyTo(picture.labels, own != classes_.ignore);
    saveLabels(name, picture.labels);
  }
  return found;
}

}  // namespace mpm::vision
