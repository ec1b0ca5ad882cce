// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "monitor/capture/inference.h"
#include "monitor/store/sample.h"
#include "vision/regions/region.h"

namespace mpm::monitor {

/// What no picture may show that is written, sent or seen. It is no guarantee: what the model misses stays visible.
struct PrivacyOptions {
  std::vector<vision::Region> hidden{};  ///< black, where and when they are valid: coveringMask()
  std::vector<std::string> blurred{};    ///< classes of the model, blurred with a margin
  double margin = 0.02;                  ///< of the blur, a share of the longer side of the picture
  double memory_s = 3;                   ///< what was of such a class stays blurred so long, as the model may miss it

  /// All of each picture is blurred, because no model has a class of this name.
  static PrivacyOptions everything() { return {.blurred = {"*"}}; }

  /// Hides also what the other options hide.
  void add(const PrivacyOptions& other);
  bool on() const { return !hidden.empty() || !blurred.empty(); }
  std::string text() const;  ///< "pictures hide window and blur car, person"
  /// {"hide": [regions], "blur": [classes]} in one line, as a database holds it with its source; "" if it is not on().
  /// Options of one text hide the same.
  std::string json() const;
  std::string regionsDigest() const;  ///< a number in text, the same for the same regions
};

/// Back from PrivacyOptions::json(). Throws mpm::Error.
PrivacyOptions readPrivacy(const std::string& json);

/// What a person says about the privacy of a source. What is not said stays as the database has it with the source: to
/// forget an option shows nothing that was hidden.
struct PrivacyChoice {
  std::optional<std::vector<vision::Region>> hidden{};  ///< empty: nothing is black any more
  std::optional<std::vector<std::string>> blurred{};    ///< empty: no class is blurred any more

  /// What counts where this is stored with the source.
  PrivacyOptions over(const PrivacyOptions& stored) const;
};

/// A picture whose model is not known any more, with these parts hidden: regions black, as they lay at this time and
/// place, and all of it blurred where one of the classes would have to be. `frame`: the size of the frame, which the
/// picture shows from its corner on.
cv::Mat hiddenPicture(const cv::Mat& picture, cv::Size frame, UnixMs time, const ViewMotion& offset,
                      const PrivacyOptions& hidden);

/// Hides parts of the pictures of one source, one after the other. Not thread-safe.
class Privacy {
 public:
  /// Throws mpm::Error as vision::check().
  explicit Privacy(PrivacyOptions options);

  /// Gives a result a copy of its picture in which everything is hidden that has to be, and an estimate that says
  /// nothing of the hidden parts; `offset`: where the view has moved. A picture is blurred as a whole, and loses its
  /// depth, where classes cannot be told: the model lacks one of them or gives no labels, or no model has seen the
  /// frame (`model` null); and where the mask of a region is of another size, which is told to `report` the first time.
  void hide(InferenceResult& result, const ViewMotion& offset,
            const std::function<void(const std::string& problem)>& report = {});

  /// The pixels that hide() changes in the picture of a result: CV_8U of its size, 255 there.
  cv::Mat hiddenIn(const InferenceResult& result, const ViewMotion& offset);

 private:
  struct Parts {
    cv::Mat black, blurred;  // CV_8U of the size of the picture, 255 there; empty: nowhere
    bool whole = false;      // the whole picture is blurred, as what has to be cannot be told
    std::string problem;     // why, where a region is the cause
  };
  Parts partsOf(const InferenceResult& result, const ViewMotion& offset);
  cv::Mat where(const cv::Mat& labels, const std::vector<int>& classes, cv::Size picture, double now);

  std::shared_ptr<const PrivacyOptions> given_;
  const PrivacyOptions& options_;
  bool told_ = false;  // that a region could not be hidden alone
  cv::Mat seen_;       // CV_64F, by cells of the picture: when one of the classes was last seen there, UnixMs
};

}  // namespace mpm::monitor
