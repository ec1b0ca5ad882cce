// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evaluation/measurement.h"
#include "mpm/estimator.hpp"

namespace mpm::evaluation {

/// A variant of a model that takes turns with others on the same pictures.
struct TurnVariant {
  EstimatorOptions options{};
  Json line{};                        ///< what its lines say of it, with "classes" and "fit"
  std::optional<std::size_t> full{};  ///< index of the full model that it is compared with
  bool by_night = false;              ///< it sees the picture at the simulated night
};

/// A picture that variants take turns on.
struct TurnPicture {
  cv::Mat image, dark{};  ///< `dark`: at the simulated night, for variants by night
  Truth truth;            ///< without labels, perhaps
  Json line{};            ///< what lines say of it, as in measurementOf(); frames of a "film" follow each other
  std::vector<std::size_t> variants{};  ///< the variants that measure it, ascending
  std::string name{}, label{};          ///< of the image and of its labels, for errors; empty: they name none
  int index = 0;                        ///< decides whose turn is the first
  std::optional<double> seconds{};      ///< as in Estimator::estimate()
};

/// The variants that run together, from `first` to before `last`.
struct TurnGroup {
  std::size_t first = 0, last = 0;
};

/// Each net has its own weights, and nets that do not fit into 2 GB together run in groups. `parameters`: of the model.
std::vector<TurnGroup> turnGroups(std::size_t variants, std::int64_t parameters);

/// Runs the variants of a group by turns on each picture, so that other work of the machine slows all alike. The order
/// is another one for each picture, because whatever follows the full model finds its data in the caches.
class Turns {
 public:
  struct Rules {
    bool labels_of_full = false;  ///< the labels that count as true are those of the full model
    bool count_operations = false;
  };

  /// Opens the nets of the group, and the full models that they are compared with. `variants` outlives the object.
  Turns(const std::string& model, const std::vector<TurnVariant>& variants, const TurnGroup& group, const Rules& rules);

  /// The measurement of each of `picture.variants`, with its index. Left out with labels of the full model: the first
  /// frame of a film with reuse, because it is computed in full. `go_on` is called after each run; when it says false,
  /// the result is nullopt.
  std::optional<std::vector<std::pair<std::size_t, Measurement>>> measure(
      const TurnPicture& picture, const std::function<bool()>& go_on = [] { return true; });

 private:
  std::optional<std::map<std::size_t, Estimate>> run(const TurnPicture& picture, bool first_of_film,
                                                     const std::function<bool()>& go_on);

  const std::vector<TurnVariant>& variants_;
  Rules rules_;
  std::map<std::size_t, Estimator> nets_;
  std::map<std::size_t, FlopCounter> operations_;
  std::set<std::size_t> warm_;       // their weights are packed
  std::optional<std::string> film_;  // of the last picture
};

}  // namespace mpm::evaluation
