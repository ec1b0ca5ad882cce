// SPDX-License-Identifier: Apache-2.0
#include "evaluation/variants.h"

#include <algorithm>
#include <utility>

namespace mpm::evaluation {

InterleavedVariants::InterleavedVariants(std::string model, EstimatorOptions options, double max_bytes)
    : model_(std::move(model)), options_(std::move(options)), full_(make(kFullModel)) {
  const double bytes = 4.0 * static_cast<double>(full_.model().parameters);
  group_ = static_cast<std::size_t>(std::max(1.0, max_bytes / bytes - 1));
}

Estimator InterleavedVariants::make(const Reduction& variant) const {
  EstimatorOptions options = options_;
  options.task = Task::kSemantic;
  options.read.convert = options.read.convert.with(variant);
  return Estimator(model_, options);
}

bool InterleavedVariants::run(const std::vector<Reduction>& variants, const Images& images, const Take& take,
                              bool beside_full) {
  std::size_t first = 0;
  do {
    const std::size_t last = std::min(variants.size(), first + group_);
    std::vector<Estimator> nets;
    for (std::size_t v = first; v < last; ++v) nets.push_back(make(variants[v]));
    for (Estimator& net : nets) net.estimate(images.front());  // packs the weights
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto measured = [&](Estimator& net, double full_ms) {
        VariantRun run{net.estimate(images[i]), 0, full_ms};
        run.ms = run.result.ms.total;
        return run;
      };
      const VariantRun full = beside_full ? measured(full_, 0) : VariantRun();
      const int image = static_cast<int>(i);
      if (beside_full && first == 0 && !take(image, -1, {full.result, full.ms, full.ms})) return false;
      // In another order for each image: whatever follows the full model finds its data in the caches.
      for (std::size_t n = 0; n < nets.size(); ++n) {
        const std::size_t v = (n + i) % nets.size();
        if (!take(image, static_cast<int>(first + v), measured(nets[v], full.ms))) return false;
      }
    }
    first = last;
  } while (first < variants.size());
  return true;
}

}  // namespace mpm::evaluation
