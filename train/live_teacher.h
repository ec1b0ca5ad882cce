// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::train {

struct LiveOptions {
  std::string folder;  ///< as LabelFolder: classes.json, pictures/, labels/
  std::string model;   ///< empty: the default model
  int threads = 0;     ///< 0: all
};

/// `mpm-train live`: answers JSON lines on stdin with JSON lines on stdout until stdin ends. The question
/// {"picture": NAME} trains the head on the labels of the folder as they are now, going on from the head before, and is
/// answered with what the head makes of that picture: {"ok": true, "picture", "size": {"height", "width"},
/// "runs": [label, pixels, ...], "unsure": [cell, ...]}; runs go row by row, a cell is the number of a token of which
/// the head is not sure. The question {"candidates": [FILE, ...], "count": N} is answered with those that differ most
/// from what is labelled: {"ok": true, "next": [FILE, ...]}, see vision::furthestFirst(). What is wrong is an answer
/// {"ok": false, "why": "one line"}. The tokens of a picture are kept. Returns the exit status.
int teachLive(const LiveOptions& options);

}  // namespace mpm::train
