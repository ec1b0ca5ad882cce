// SPDX-License-Identifier: Apache-2.0
#include "monitor/hiding.h"

namespace mpm::monitor {

Hiding::Hiding(const PrivacyChoice& said) : said_(said) { privacy_.emplace(PrivacyOptions::everything()); }

PrivacyOptions Hiding::setStored(const PrivacyOptions& stored) {
  const std::lock_guard lock(mutex_);
  return countStored(stored);
}

std::optional<PrivacyOptions> Hiding::say(const PrivacyChoice& said) {
  const std::lock_guard lock(mutex_);
  said_ = said;
  if (!options_) return std::nullopt;
  return countStored(PrivacyOptions(*options_));
}

PrivacyOptions Hiding::countStored(const PrivacyOptions& stored) {
  options_ = said_.over(stored);
  privacy_.reset();
  if (options_->on()) privacy_.emplace(*options_);
  return *options_;
}

std::optional<PrivacyOptions> Hiding::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

void Hiding::hide(InferenceResult& result, const ViewMotion* offset,
                  const std::function<void(const std::string&)>& report) {
  const std::lock_guard lock(mutex_);
  if (offset) offset_ = *offset;
  if (privacy_) privacy_->hide(result, offset_, report);
}

cv::Mat Hiding::hiddenIn(const InferenceResult& result, const ViewMotion& offset) {
  const std::lock_guard lock(mutex_);
  return privacy_ ? privacy_->hiddenIn(result, offset) : cv::Mat();
}

}  // namespace mpm::monitor
