// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/dataset.h"
#include "mpm/estimator.hpp"
#include "program/terminal/output.h"
#include "vision/labels/labelled_picture.h"
#include "vision/sources/source.h"

namespace mpm::cli {

/// Which frames a verb reads.
struct FrameOptions {
  std::vector<std::string> sources{};
  int max_frames = 0;  ///< 0: all
  double timeout_s = vision::SourceOptions{}.timeout_s;
  bool leave_out = true;  ///< pictures of a folder that cannot be read; false: such a picture is an error
  std::function<bool(const std::string& path)> chosen{};  ///< vision::SourceOptions::chosen
  bool show_progress = true;                              ///< on stderr, where it is a terminal
};

/// Frames per second of the first video or scene among the sources; 25 without one.
double frameRateOf(const std::vector<std::string>& sources);

/// The frames of the sources, one source after the other, with "frame 12 of 400" and the time left on stderr. Ends when
/// a person interrupts.
class Frames {
 public:
  /// Opens the first source.
  explicit Frames(FrameOptions options);

  std::optional<vision::Frame> next();
  /// Makes room for a line on the same terminal, above the progress.
  void clearProgress() const { progress_->clear(); }

  int read() const { return read_; }
  /// The place of the last frame in all sources, from 0. Pictures that are not chosen or were left out count as well,
  /// so an image has the same number in every shard and in a run that is resumed.
  int number() const { return before_ + index_; }
  /// Which source the last frame is of.
  std::size_t source() const { return source_; }
  /// Another text when frames of another camera or film begin, as with another folder of a glob. Single pictures are
  /// frames of one.
  std::string filmOf(const vision::Frame& frame) const;
  /// How many there will be, when it is known.
  std::optional<int> size() const;
  /// Classes of the labels of the frames; vision::FrameSource::classNames().
  std::vector<std::string> classNames() const { return opened_->classNames(); }
  /// Throws mpm::Error when pictures were left out: the result is not of all that was asked for.
  void requireAll() const;

 private:
  void open();

  FrameOptions options_;
  bool images_only_ = false;  // every source is one image
  bool images_ = false;       // the source that is open is of image files
  std::unique_ptr<vision::FrameSource> opened_;
  std::optional<program::Progress> progress_;
  std::size_t source_ = 0;
  int read_ = 0, left_out_ = 0;
  int before_ = 0;        // frames of the sources before this one
  int index_ = -1;        // of the last frame, in its source
  bool in_hand_ = false;  // a frame that progress does not count yet
};

/// Adds "time" (ISO 8601, UTC), "night" and "sun_elevation" (degrees) of the frame, those that its source
/// knows.
void addMoment(const vision::Frame& frame, Json& json);

/// Where labelled images come from: the scene, a data set, or two folders.
struct LabelledOptions {
  std::string source{};  ///< the scene, or the folder of `dataset`
  std::optional<evaluation::Dataset> dataset{};
  std::string split{};  ///< of `dataset`; empty: that of its protocol
  std::string images{}, labels{};
  std::vector<int> ignore{};  ///< empty: the model's
  int label_offset = 0;
  int max_frames = 0;       ///< only the first ones; 0: all
  int spread = 0;           ///< of these only so many, spread evenly; 0: all
  bool unlabelled = false;  ///< `source` may be any images; they get no labels
  bool anywhere = false;    ///< for a shard: other machines may have the same images below other folders

  /// Throws UsageError for options that do not go together.
  void validate() const;
  /// "camvid"; with its part where that is not the one of the protocol, "camvid:test". Of a run with a data set.
  std::string datasetText() const;
};

/// --dataset: its name, and behind a colon its part.
void addDataset(CLI::App& verb, LabelledOptions& labelled, const std::string& description);

/// How an image comes to the size of the network input.
struct FitOptions {
  Fit fit = Fit::kResize;
  int stride = 0, short_side = 0;  ///< px, of windows; 0: those of the data set, else the defaults
};

/// Reads "resize", "window" or "window:stride=480:short-side=512". Throws mpm::Error for another text.
FitOptions parseFit(const std::string& text);

/// Labels in the files that do not count. Not of a data set, which has its own.
std::vector<int> ignoredLabels(const LabelledOptions& options, const ModelInfo& model);

/// Sets the fit, the stride and the short side of `options` to what the user chose, else to those of the papers, as far
/// as the model allows.
void applyProtocol(const LabelledOptions& labelled, const std::optional<FitOptions>& chosen, const std::string& model,
                   EstimatorOptions& options);

struct LabelledFrame {
  vision::Frame frame;
  cv::Mat truth;      ///< CV_8U, classes and the void label
  std::string label;  ///< names the label map in messages
  /// Which images of the source are alike: frames of one street or one video, images of a folder or of a sequence of
  /// the data set. Intervals count films, or stretches of them (evaluation::blocksOf()).
  std::string film;
};

/// The images of LabelledOptions, one after the other, with progress on stderr. An image that cannot be read is an
/// error.
class LabelledFrames {
 public:
  using Chosen = std::function<bool(const std::string& path)>;
  /// `chosen`: whether the image in a file is read; asked from the first next() on. Throws mpm::Error when the labels
  /// do not fit the classes of `model`.
  LabelledFrames(const LabelledOptions& options, const ModelInfo& model, Chosen chosen = {});

  /// nullopt at the end, or when a person interrupts. Throws mpm::Error naming the label map that does not fit.
  std::optional<LabelledFrame> next();

  int voidLabel() const { return meaning_.voidLabel(); }
  /// Where the images come from: their files, or the scene.
  const std::vector<std::string>& sources() const { return sources_; }
  /// Whether each image is a file, not a frame of a video or of the scene.
  bool areFiles() const { return !files_of_name_.empty(); }
  /// That an output must not replace.
  const std::vector<std::string>& files() const { return files_; }
  /// The files of the image with this name, as imageName() gives it: the image, or the video that it is of, and its
  /// label map. Empty where there is none.
  vision::LabelledFile filesOf(const std::string& name) const;
  /// Whether there is an image with this name, or of the scene a frame with this index, that next() does not give: it
  /// is none of the first ones, or of the spread. May open the source.
  bool leavesOut(const std::string& name, int index);

 private:
  /// Null: there is no image to read.
  Frames* open();
  std::string filmOf(const vision::Frame& frame) const;
  /// Whether image `index` of `total` is one of LabelledOptions::spread.
  bool isWanted(std::size_t index, std::optional<int> total) const;

  LabelledOptions options_;
  Chosen chosen_;
  std::vector<std::string> classes_;  // of the model
  vision::LabelMeaning meaning_;
  std::vector<vision::LabelledFile> pictures_;  // of a folder or a data set; without `labels` where there is no map
  std::vector<std::size_t> index_;              // in pictures_, of each image that is read
  std::vector<std::string> sources_, files_;
  struct NamedFile {
    vision::LabelledFile file;
    int index = 0;  // among all images
  };
  std::map<std::string, NamedFile> files_of_name_;
  bool opened_ = false;
  std::optional<Frames> frames_;
};

}  // namespace mpm::cli
