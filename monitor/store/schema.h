// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// "MPM1", in the header of the file.
inline constexpr std::int64_t kApplicationId = 0x4d504d31;

/// Opens for writing: makes the tables in an empty file, brings an older schema up to date in one transaction. `create`
/// false: a file that is not there is an error. Throws mpm::Error naming the file, SqliteError where isDamage() holds
/// and where the disk is full (SQLITE_FULL).
Database openForWriting(const std::string& path, bool create);

/// What is wrong with the text of our tables where a single byte of it is not what we wrote; empty: nothing. A text
/// that differs more was changed by someone.
std::string damageOfSchema(const Database& database);

/// Throws mpm::Error when it is not ours or of another schema version, EmptyDatabase when nothing is in it.
Database openForReading(const std::string& path);

/// "[660,491,377]", "{"0":0.25,"7":0.75}": what the columns `tokens` and `areas` of a sample hold.
std::string tokensJson(const std::vector<double>& tokens);
std::string areasJson(const std::vector<std::pair<int, double>>& areas);

/// Columns that a query for readSample() must name, in this order.
inline constexpr const char* kSampleColumns =
    "id, time_ms, tokens, inference_ms, areas, night, brightness, dropped, session";
Sample readSample(const Statement& row);

}  // namespace mpm::monitor
