// SPDX-License-Identifier: Apache-2.0
// Which states counted, and when they changed.
#include <algorithm>
#include <iterator>
#include <utility>

#include "monitor/store/store_reader_impl.h"

namespace mpm::monitor {
namespace {

using HeadChanges = std::map<std::string, StateChanges>;  // by name

// Of the latest series with a sample in this bucket, which ends at `to`, that has a state of this head by then; null:
// none has.
const StateChanges* latestOf(const ChartBucket& bucket, const std::map<std::int64_t, HeadChanges>& heads,
                             const std::string& name, UnixMs to) {
  for (const std::int64_t series : bucket.series) {
    const HeadChanges& of_series = heads.at(series);
    const auto found = of_series.find(name);
    if (found != of_series.end() && found->second.front().first < to) return &found->second;
  }
  return nullptr;
}

}  // namespace

std::map<std::string, StateChanges> StoreReader::stateChanges(std::int64_t series, UnixMs from, UnixMs to) const {
  std::map<std::string, StateChanges> heads;
  Statement rows = impl_->database.prepare(
      "SELECT name, time_ms, state FROM state_change AS one WHERE series = ?1 AND time_ms < ?3 AND time_ms >="
      " coalesce((SELECT max(time_ms) FROM state_change WHERE series = ?1 AND name = one.name AND time_ms <= ?2), ?2)"
      " ORDER BY name, time_ms");
  rows.bind(series, from, to);
  while (rows.step()) heads[std::string(rows.text(0))].emplace_back(std::max(from, rows.integer(1)), rows.text(2));
  return heads;
}

std::map<std::string, StateChanges> StoreReader::stateChanges(const Chart& chart, const ChartQuery& query) const {
  std::map<std::int64_t, HeadChanges> heads;
  std::map<std::string, StateChanges> all;
  for (const std::int64_t series : impl_->seriesOf(query.source)) {
    heads[series] = stateChanges(series, query.from, query.to);
    for (const auto& [name, changes] : heads[series]) all[name];
  }
  for (auto& head : all) {
    StateChanges& result = head.second;
    const auto add = [&result](UnixMs time, const std::string& state) {
      if (result.empty() || result.back().second != state) result.emplace_back(time, state);
    };
    const StateChanges* before = nullptr;
    for (std::size_t i = 0; i < chart.buckets.size(); ++i) {
      const UnixMs from = std::max(chart.buckets[i].start, query.from),
                   to = i + 1 < chart.buckets.size() ? chart.buckets[i + 1].start : query.to;
      const StateChanges* const now = latestOf(chart.buckets[i], heads, head.first, to);
      if (!now && before) add(from, "");
      if (now) {
        // Where the model was changed within the bucket, the state of the one before holds until then.
        auto change = std::ranges::upper_bound(*now, from, {}, &StateChanges::value_type::first);
        if (change != now->begin()) add(from, std::prev(change)->second);
        for (; change != now->end() && change->first < to; ++change) add(change->first, change->second);
      }
      before = now;
    }
  }
  std::erase_if(all, [](const auto& head) { return head.second.empty(); });
  return all;
}

std::vector<StateSeries> StoreReader::states(std::int64_t series, UnixMs from, UnixMs to) const {
  std::vector<StateSeries> all;
  for (auto& [name, changes] : stateChanges(series, from, to)) all.push_back({name, std::move(changes)});
  if (all.empty()) return all;  // no need to look at each sample
  const bool one_of_several = impl_->database.integer(
      "SELECT count(*) > 1 FROM series WHERE source = (SELECT source FROM series WHERE id = ?)", series);
  // Of a source with one series the index of times alone says which samples count. They are counted here, because GROUP
  // BY would sort them first.
  Statement rows = impl_->database.prepare(
      std::string("SELECT name, counted, sure FROM state_sample JOIN sample ON sample.id = sample"
                  " WHERE source = (SELECT source FROM series WHERE id = ?1) AND time_ms >= ?2 AND time_ms < ?3") +
      (one_of_several ? " AND sample.session IN (SELECT id FROM session WHERE series = ?1)" : ""));
  rows.bind(series, from, to);
  while (rows.step()) {
    const auto head = std::ranges::find(all, rows.text(0), &StateSeries::name);
    if (head == all.end()) continue;
    const std::string_view counted = rows.text(1);
    auto state = head->samples.find(counted);
    if (state == head->samples.end()) state = head->samples.emplace(counted, 0).first;
    ++state->second;
    head->sure += rows.integer(2);
  }
  return all;
}

std::map<std::string, std::set<std::string>> StoreReader::knownStates(std::int64_t source) const {
  std::map<std::string, std::set<std::string>> known;
  Statement rows = impl_->database.prepare(
      "SELECT DISTINCT name, state FROM state_change WHERE series IN (SELECT id FROM series WHERE source = ?)");
  rows.bind(source);
  while (rows.step()) {
    auto& states = known[std::string(rows.text(0))];
    if (!rows.text(1).empty()) states.emplace(rows.text(1));
  }
  return known;
}

}  // namespace mpm::monitor
