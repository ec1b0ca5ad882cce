// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json_file.h"
#include "monitor/watch/camera_config.h"
#include "mpm/convert.hpp"
#include "mpm/estimator.hpp"
#include "mpm/reuse.hpp"
#include "program/model_options.h"
#include "program/terminal/program.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source_spec.h"
#include "vision/times/picture_times.h"

namespace mpm::cli {

/// One of several equal parts of the images, for one of several machines.
struct Shard {
  int number = 1, of = 1;

  bool isWhole() const { return of == 1; }
  /// Whether the image is in this part. Only the file name decides: other files, and the folder that the images are
  /// in, make no difference.
  bool contains(const std::string& path) const;
  /// "2/8".
  std::string text() const { return std::to_string(number) + "/" + std::to_string(of); }
};

/// Reads "2/8". Throws mpm::Error for a text that is no shard.
Shard parseShard(const std::string& text);

/// --shard.
void addShard(CLI::App& verb, Shard& shard);

/// The name of an image in lines of JSON: the stem of its file, as utf8Text() has it.
std::string imageName(const std::string& path);

/// For work on parts of the images: throws UsageError unless all sources are image files, each with another name, so
/// that what is written about one of them replaces nothing of another. Returns their files by their names.
std::map<std::string, std::string> requireNamedImages(const std::string& option,
                                                      const std::vector<std::string>& sources);

/// Reuse needs all frames in their order: throws UsageError for one that is on, beside --shard or --resume.
void requireAllFrames(const Reuse& reuse, const Shard& shard, bool resumes);

/// --times and --time-zone: when pictures were taken.
void addTimes(CLI::App& verb, vision::TimeOptions& options);

/// The options of the fields of watch files that have one.
void addCameraFields(CLI::App& verb, monitor::CameraConfig& config);

/// Returns what `work` does, whose monitor::CameraConfigError becomes one that names the option, or where a file has
/// the key.
template <typename Work>
auto orOptionError(Work&& work, const std::map<std::string, std::string>& places = {}) {
  try {
    return work();
  } catch (const monitor::CameraConfigError& error) {
    const auto place = places.find(error.key);
    const std::string option = error.key == "source" ? "" : "--" + error.key + ": ";
    const std::string why = (place == places.end() ? option : place->second + ": ") + error.what();
    if (error.in_file) throw Error(why);
    throw program::UsageError(why);
  }
}

/// Images as they are, or at a simulated night as in the paper.
struct Night {
  bool on = false;
  vision::NightOptions options{};

  /// `image` itself, or what is left of it at night. The noise is that of `name`, so an image has the same night in
  /// every run, shard and verb, whichever images are beside it.
  cv::Mat applied(const cv::Mat& image, const std::string& name) const {
    return on ? vision::simulateNight(image, options, hashBytes(name)) : image;
  }
};

/// {"gain", "electrons", "thermal"}; null by day.
Json toJson(const Night& night);

/// Reads "0.25" or "0.25:electrons=500:thermal=0.01". Throws mpm::Error for another text and a value out of range.
vision::NightOptions parseNight(const std::string& text);

/// --simulate-night, which is off unless `night` is on already.
void addNight(CLI::App& verb, Night& night);

/// The ways to run one model that a verb compares: each precision with each reduction and each reuse.
struct VariantOptions {
  struct Variant {
    ConvertOptions convert;
    Reuse reuse{};
  };

  std::vector<Reduction> reductions{};
  std::vector<Precision> precisions{};
  std::vector<Reuse> reuses{};

  /// All of them, each once, with the reduction and the precision that the model then has. `convert`: of all. Throws
  /// mpm::Error for a reduction that the model lacks, and for another one than that of a converted model.
  std::vector<Variant> of(const std::string& model, const ConvertOptions& convert) const;
};

/// OpenCV uses this many threads from now on, but no more than there are CPUs, which a note says; 0: as many as now.
/// Returns how many are used.
int useThreads(int wanted);

/// --model, --device, --threads, --input-size, and what makes variants: --reduce, --precision and
/// --reuse, of which each can be given several times.
void addVariants(CLI::App& verb, std::string& model, EstimatorOptions& options, VariantOptions& variants);

}  // namespace mpm::cli
