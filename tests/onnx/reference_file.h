// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::test {

/// A tensor of a NAME.reference.json (tests/data/README.md).
struct Array {
  std::string name;
  std::vector<int> shape;
  std::vector<double> values;

  int rows() const { return shape.at(0); }
  /// Elements of one image of the batch.
  std::size_t perImage() const { return values.size() / static_cast<std::size_t>(rows()); }
};

struct ModelReference {
  Array image;
  std::vector<Array> outputs;
};

/// One row of models.json.
struct ExportedModel {
  std::string file, verdict, head, reference;
  int blocks = 0, special_tokens = 0;
  bool merges = true;    ///< otherwise merging is refused
  double tolerance = 0;  ///< of a standard deviation of the output
};

std::vector<ExportedModel> exportedModels(const std::string& folder);
ModelReference readReference(const std::string& path);

}  // namespace mpm::test
