// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "mpm/estimator.hpp"

namespace mpm::monitor {

/// The models of several cameras, and the one thread that runs them. Cameras that want the same file with the same
/// options share its net. Any thread may call the methods.
class SharedModels {
 public:
  SharedModels();
  ~SharedModels();  ///< no run() may be in progress

  /// Runs `work` on the thread of the models, and returns when it is done. Works run in the order of these calls, so a
  /// camera that always has a frame waits for all others before its next one. False: `stop` was requested before its
  /// turn, and it does not run. Throws what `work` throws.
  bool run(const std::stop_token& stop, const std::function<void()>& work);
  /// How many calls of run() wait for their turn.
  std::size_t waiting() const;

  /// An Estimator for one camera, on a net that is read unless another camera has it. `digest`: modelDigest() of the
  /// file. Throws as the constructor of Estimator.
  std::shared_ptr<Estimator> open(const std::string& path, const std::string& digest, const EstimatorOptions& options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
