// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// "MPM1", in the header of the file.
inline constexpr std::int64_t kApplicationId = 0x4d504d31;

/// Opens for writing and makes the tables in an empty file. `create` false: a file that is not there is an error.
/// Throws mpm::Error naming the file; a SqliteError where isDamage() or passesByItself() holds.
Database openForWriting(const std::string& path, bool create);

/// Throws mpm::Error when it is not ours or has another schema, EmptyDatabase when nothing is in it.
Database openForReading(const std::string& path);

/// "[660,491,377]", "{"0":0.25,"7":0.75}": what the columns `tokens` and `areas` of a sample hold.
std::string tokensJson(const std::vector<double>& tokens);
std::string areasJson(const std::vector<std::pair<int, double>>& areas);

/// Columns that a query for readSample() must name, in this order.
inline constexpr const char* kSampleColumns =
    "id, time_ms, tokens, inference_ms, areas, night, brightness, dropped, session, rows, agreement, picture, "
    "sharpness, contrast, saturated, quality, moved_right, moved_down, turned, zoomed";
/// Without Sample::regions.
Sample readSample(const Statement& row);
inline constexpr const char* kInsertRegion = "INSERT INTO region_sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
void insertRegion(Statement& insert, std::int64_t sample, const RegionSample& region);
/// Sample::regions of a sample, by readRegions(), which binds its id to the statement.
inline constexpr const char* kRegionsOfSample =
    "SELECT region, pixels, red, green, blue, red_deviation, green_deviation, blue_deviation, tokens, areas, name"
    " FROM region_sample JOIN region ON region.id = region WHERE sample = ? ORDER BY region";
std::vector<RegionSample> readRegions(Statement& rows, std::int64_t sample);
/// Sample::states of a sample, the same way.
inline constexpr const char* kStatesOfSample =
    "SELECT name, state, probability, sure, counted FROM state_sample WHERE sample = ? ORDER BY name";
std::vector<StateSample> readStates(Statement& rows, std::int64_t sample);

}  // namespace mpm::monitor
