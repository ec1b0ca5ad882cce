// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/monitor/written_cameras.h"
#include "monitor/tell/teller.h"
#include "monitor/watch/camera.h"
#include "mpm/convert.hpp"

namespace mpm::cli {

/// What the models of the cameras are. Each is read once, however many cameras have it.
class ReadModels {
 public:
  const ModelInfo& of(const monitor::SessionOptions& session);

  /// vision::modelDigest() of a file, which reads all of it.
  const std::string& digestOf(const std::string& model);

 private:
  struct Read {
    std::string model;
    ConvertOptions convert;
    ModelInfo info;
  };
  std::list<Read> read_;
  std::map<std::string, std::string> digests_;
};

/// How each camera is opened and measured. Throws UsageError or mpm::Error, and names the camera where there are
/// several. `teller`: null where nobody is told.
std::vector<monitor::Camera> camerasOf(const MonitorArguments& arguments,
                                       const std::vector<monitor::WrittenCamera>& written,
                                       const std::shared_ptr<monitor::Teller>& teller, ReadModels& models);

/// What can be known before a camera is watched: its model and its database can be read. Throws mpm::Error.
void foresee(const std::vector<monitor::Camera>& cameras, ReadModels& models);

}  // namespace mpm::cli
