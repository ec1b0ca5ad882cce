// SPDX-License-Identifier: Apache-2.0
#include "evaluation/turns.h"

#include <algorithm>

#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm::evaluation {

std::vector<TurnGroup> turnGroups(std::size_t variants, std::int64_t parameters) {
  // A policy network and the state of reuse apart, a net is as large as its weights. One place is the full model's.
  constexpr double kMaxBytes = 2e9;
  const double bytes = 4.0 * static_cast<double>(std::max<std::int64_t>(1, parameters));
  const auto size = static_cast<std::size_t>(std::max(1.0, kMaxBytes / bytes - 1));
  std::vector<TurnGroup> groups;
  for (std::size_t first = 0; first < variants; first += size)
    groups.push_back({first, first + std::min(size, variants - first)});
  return groups;
}

Turns::Turns(const std::string& model, const std::vector<TurnVariant>& variants, const TurnGroup& group,
             const Rules& rules)
    : variants_(variants), rules_(rules) {
  const auto open = [&](std::size_t v) {
    const EstimatorOptions& options = variants_[v].options;
    if (nets_.try_emplace(v, model, options).second && rules_.count_operations && !options.reuse.on)
      operations_.emplace(v, convertModel(model, options.convert()).bytes);
  };
  for (std::size_t v = group.first; v < group.last; ++v) {
    open(v);
    if (variants_[v].full) open(*variants_[v].full);
  }
}

std::optional<std::map<std::size_t, Estimate>> Turns::run(const TurnPicture& picture, bool first_of_film,
                                                          const std::function<bool()>& go_on) {
  const auto seenBy = [&](std::size_t v) { return variants_[v].by_night ? picture.dark : picture.image; };
  if (first_of_film) {
    for (auto& [v, net] : nets_) {
      if (warm_.insert(v).second) net.estimate(seenBy(v));  // packs the weights
      net.reset();
    }
  }
  std::set<std::size_t> both(picture.variants.begin(), picture.variants.end());
  for (const std::size_t v : picture.variants)
    if (const auto full = variants_[v].full) both.insert(*full);
  const std::vector<std::size_t> turns(both.begin(), both.end());
  std::map<std::size_t, Estimate> results;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t v = turns[(i + static_cast<std::size_t>(picture.index)) % turns.size()];
    results[v] = nets_.at(v).estimate(seenBy(v), picture.seconds);
    if (!go_on()) return std::nullopt;
  }
  return results;
}

std::optional<std::vector<std::pair<std::size_t, Measurement>>> Turns::measure(const TurnPicture& picture,
                                                                               const std::function<bool()>& go_on) {
  const std::string film = textOf(picture.line, "film");
  const bool first_of_film = film_ != film;
  film_ = film;
  const auto naming = [](const std::string& name, auto&& work) {
    try {
      return work();
    } catch (const Error& error) {
      if (name.empty()) throw;
      throw Error("'" + name + "': " + error.what());
    }
  };
  const auto results = naming(picture.name, [&] { return run(picture, first_of_film, go_on); });
  if (!results) return std::nullopt;
  return naming(picture.label, [&] {
    std::vector<std::pair<std::size_t, Measurement>> measured;
    for (const std::size_t v : picture.variants) {
      const TurnVariant& variant = variants_[v];
      const bool reused_nothing = variant.options.reuse.on && first_of_film;
      if (rules_.labels_of_full && reused_nothing) continue;
      const Estimate* const full = variant.full ? &results->at(*variant.full) : nullptr;
      Json line = variant.line;
      line.update(picture.line);
      const Truth truth = rules_.labels_of_full ? Truth(full->labels, picture.truth.void_label) : picture.truth;
      const auto operations = operations_.find(v);
      measured.emplace_back(v, measurementOf(std::move(line), results->at(v), full, truth, reused_nothing,
                                             operations == operations_.end() ? nullptr : &operations->second));
    }
    return std::optional(std::move(measured));
  });
}

}  // namespace mpm::evaluation
