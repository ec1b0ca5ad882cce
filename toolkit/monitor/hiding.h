// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <opencv2/core.hpp>
#include <optional>
#include <string>

#include "monitor/capture/inference.h"
#include "monitor/privacy.h"
#include "monitor/store/sample.h"

namespace mpm::monitor {

/// What must not be seen of the source that a session has open: what a person said, over what its database has. Until
/// it is known what is stored, whole pictures are blurred. Thread-safe.
class Hiding {
 public:
  explicit Hiding(const PrivacyChoice& said);

  /// What is stored of the source. Returns what counts now.
  PrivacyOptions setStored(const PrivacyOptions& stored);

  /// What a person says from now on: over what counted until now. Returns what counts now. nullopt: it is not known yet
  /// what is stored.
  std::optional<PrivacyOptions> say(const PrivacyChoice& said);

  std::optional<PrivacyOptions> options() const;  ///< what counts; nullopt: as above

  /// As Privacy::hide(). `offset`: where the view is now; null: where it was last.
  void hide(InferenceResult& result, const ViewMotion* offset, const std::function<void(const std::string&)>& report);

  /// As Privacy::hiddenIn(); empty where nothing is hidden.
  cv::Mat hiddenIn(const InferenceResult& result, const ViewMotion& offset);

 private:
  PrivacyOptions countStored(const PrivacyOptions& stored);  // `mutex_` is held

  mutable std::mutex mutex_;
  PrivacyChoice said_;
  std::optional<PrivacyOptions> options_;  // nullopt: not known yet
  std::optional<Privacy> privacy_;
  ViewMotion offset_;  // of the last sample
};

}  // namespace mpm::monitor
