// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/class_areas.h"

#include <algorithm>
#include <cmath>

#include "evaluation/cross_validation.h"

namespace mpm::monitor {
namespace {

// A mean area of each class over some samples.
struct Areas {
  std::vector<double> sums;
  std::int64_t samples = 0;

  void add(const ChartBucket& bucket) {
    for (std::size_t c = 0; c < sums.size(); ++c)
      sums[c] += bucket.values[c].mean * static_cast<double>(bucket.values[c].samples);
    samples += bucket.samples;
  }
  std::optional<double> mean(std::size_t c) const {
    if (samples == 0) return std::nullopt;
    return sums[c] / static_cast<double>(samples);
  }
};

}  // namespace

std::vector<ClassArea> classAreas(const StoreReader& store, std::int64_t source, UnixMs from, UnixMs to) {
  const std::vector<SessionRecord> sessions = store.sessions(source);
  if (sessions.empty()) return {};
  const SessionRecord& latest = sessions.back();
  const auto other = std::find_if(sessions.rbegin(), sessions.rend(), [&](const SessionRecord& session) {
    return session.classes != latest.classes || session.model_digest != latest.model_digest;
  });
  // The samples of a scene have a clock of their own, which may be long before the time of its session.
  if (other != sessions.rend() && other->ended && *other->ended < to) from = std::max(from, *other->ended);

  const std::size_t classes = latest.classes.size();
  ChartQuery query{.source = source, .from = from, .to = to, .max_buckets = 9000};
  for (const std::string& name : latest.classes) query.quantities.push_back({Quantity::Kind::kClassArea, -1, name});
  const Areas none{.sums = std::vector<double>(classes)};
  Areas all = none, day = none, night = none;
  for (const ChartBucket& bucket : store.chart(query).buckets) {
    all.add(bucket);
    (bucket.night < 0.5 ? day : night).add(bucket);
  }
  if (all.samples == 0) return {};

  std::vector<double> shares, corrected, iou;
  for (std::size_t c = 0; c < classes; ++c) shares.push_back(*all.mean(c));
  if (latest.cross_validation) {
    corrected = vision::correctedShares(shares, *latest.cross_validation);
    iou = latest.cross_validation->iou();
  }
  std::vector<ClassArea> areas;
  for (std::size_t c = 0; c < classes; ++c) {
    ClassArea area{.name = latest.classes[c], .all = shares[c], .day = day.mean(c), .night = night.mean(c)};
    if (!iou.empty()) {
      area.corrected = corrected[c];
      if (!std::isnan(iou[c])) area.iou = iou[c];
    }
    if (area.all > 0 || area.iou) areas.push_back(std::move(area));
  }
  return areas;
}

}  // namespace mpm::monitor
