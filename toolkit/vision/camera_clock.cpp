// SPDX-License-Identifier: Apache-2.0
#include "vision/camera_clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDayS = 86400, kHourS = 3600;
constexpr UnixMs kFarthest = UnixMs{25000} * 365 * kDayMs;  // from 1970; std::chrono ends soon after

std::int64_t dayNumber(int year, int month, int day) {
  using namespace std::chrono;
  const int months = month - 1, years = months >= 0 ? months / 12 : (months - 11) / 12;
  const year_month_day first{std::chrono::year(year + years),
                             std::chrono::month(static_cast<unsigned>(months - 12 * years + 1)), std::chrono::day(1)};
  return sys_days(first).time_since_epoch().count() + day - 1;
}

// When the clock is put forward or back in a year, as POSIX writes it in TZ: "M3.5.0/2", "J60", "59".
struct Change {
  char form = 'M';
  int month = 0, week = 0, day = 0;  // 'M': week 1 to 5 (the last one), day 0 is Sunday. Else `day` alone
  std::int64_t second = 2 * kHourS;  // of that day, on the clock before the change

  // As a time of the clock, in seconds.
  std::int64_t in(int year) const {
    std::int64_t date = 0;
    if (form == 'M') {
      const std::int64_t first = dayNumber(year, month, 1), next = dayNumber(year, month + 1, 1);
      const std::int64_t weekday = ((first + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday
      date = first + (day - weekday + 7) % 7 + 7 * (week - 1);
      if (date >= next) date -= 7;
    } else {
      const bool leap = dayNumber(year + 1, 1, 1) - dayNumber(year, 1, 1) == 366;
      date = dayNumber(year, 1, 1) + (form == 'J' ? day - 1 + (leap && day >= 60) : day);
    }
    return date * kDayS + second;
  }
};

// "CET-1CEST,M3.5.0,M10.5.0/3": the rule for all years that a file does not list.
struct PosixRule {
  std::int64_t standard = 0, summer = 0;               // s ahead of UTC
  std::optional<std::pair<Change, Change>> changes{};  // to summer time and back

  std::int64_t ahead(std::int64_t time) const {
    if (!changes) return standard;
    using namespace std::chrono;
    const int year = static_cast<int>(year_month_day(floor<days>(sys_seconds(seconds(time + standard)))).year());
    const std::int64_t begin = changes->first.in(year)-standard, end = changes->second.in(year)-summer;
    const bool is_summer = begin < end ? time >= begin && time < end : time >= begin || time < end;
    return is_summer ? summer : standard;
  }
};

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  std::optional<PosixRule> read() {
    PosixRule rule;
    const auto west = takeName() ? takeTime() : std::nullopt;
    if (!west) return std::nullopt;
    rule.standard = -*west;
    if (rest_.empty()) return rule;
    if (!takeName()) return std::nullopt;
    rule.summer = rule.standard + kHourS;
    if (!rest_.empty() && rest_[0] != ',') {
      const auto summer_west = takeTime();
      if (!summer_west) return std::nullopt;
      rule.summer = -*summer_west;
    }
    const auto begin = takeChange(), end = begin ? takeChange() : std::nullopt;
    if (!end || !rest_.empty()) return std::nullopt;
    rule.changes.emplace(*begin, *end);
    return rule;
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // -1: there is none up to `max`.
  int takeNumber(int max) {
    int value = 0;
    std::size_t digits = 0;
    for (; digits < 3 && digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
      value = 10 * value + (rest_[digits] - '0');
    rest_.remove_prefix(digits);
    return digits > 0 && value <= max ? value : -1;
  }

  bool takeName() {
    const bool quoted = take('<');
    const auto end = quoted ? rest_.find('>') : rest_.find_first_of("+-,0123456789");
    const std::size_t length = std::min(end, rest_.size());
    rest_.remove_prefix(std::min(rest_.size(), length + quoted));
    return length >= 3;
  }

  // "-1", "+5:30", "167:59:59", in seconds.
  std::optional<std::int64_t> takeTime() {
    const bool negative = take('-');
    if (!negative) take('+');
    const int hours = takeNumber(167);
    if (hours < 0) return std::nullopt;
    std::int64_t seconds = hours * kHourS;
    for (const int unit : {60, 1}) {
      if (!take(':')) break;
      const int part = takeNumber(59);
      if (part < 0) return std::nullopt;
      seconds += part * unit;
    }
    return negative ? -seconds : seconds;
  }

  std::optional<Change> takeChange() {
    if (!take(',')) return std::nullopt;
    Change change;
    if (take('M')) {
      change.month = takeNumber(12);
      change.week = take('.') ? takeNumber(5) : -1;
      change.day = take('.') ? takeNumber(6) : -1;
      if (change.month < 1 || change.week < 1 || change.day < 0) return std::nullopt;
    } else {
      change.form = take('J') ? 'J' : 'n';
      change.day = takeNumber(365);
      if (change.day < (change.form == 'J' ? 1 : 0)) return std::nullopt;
    }
    if (take('/')) {
      const auto time = takeTime();
      if (!time) return std::nullopt;
      change.second = *time;
    }
    return change;
  }

  std::string_view rest_;
};

std::string databaseFolder() {
  const char* const folder = std::getenv("TZDIR");
  return folder && *folder != '\0' ? folder : "/usr/share/zoneinfo";
}

// Minutes of "+01:00", "-0330", "+9", "Z"; with UTC or GMT before it.
std::optional<int> offsetOf(const std::string& text) {
  const bool prefixed = text.starts_with("UTC") || text.starts_with("GMT");
  if (prefixed && text.size() == 3) return 0;
  return readOffset(std::string_view(text).substr(prefixed ? 3 : 0));
}

std::string offsetText(UnixMs offset, const char* prefix) {
  const int minutes = static_cast<int>(std::abs(offset) / kMinuteMs);
  char text[32];
  std::snprintf(text, sizeof text, "%s%c%02d:%02d", prefix, offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
  return text;
}

}  // namespace

// What a file of the tz database says (RFC 9636).
struct CameraClock::Rules {
  std::vector<std::int64_t> times{};  // s, ascending: from each on,
  std::vector<std::int64_t> ahead{};  // this many s ahead of UTC
  std::int64_t first = 0;             // before them
  std::optional<PosixRule> later{};   // behind them

  std::int64_t at(std::int64_t time) const {
    const auto next = std::upper_bound(times.begin(), times.end(), time);
    if (next == times.end() && later) return later->ahead(time);
    return next == times.begin() ? first : ahead[static_cast<std::size_t>(next - times.begin()) - 1];
  }

  // Null: no such file, or another one.
  static std::shared_ptr<const Rules> ofFile(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > (1 << 20)) return nullptr;
    std::ifstream file(path, std::ios::binary);
    return ofBytes(std::string(std::istreambuf_iterator<char>(file), {}));
  }

  static std::shared_ptr<const Rules> ofBytes(std::string_view bytes) {
    constexpr std::size_t kHeader = 44;
    const auto number = [&](std::size_t at, std::size_t size) {
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
      return size == 4 ? std::int64_t{static_cast<std::int32_t>(value)} : static_cast<std::int64_t>(value);
    };
    std::size_t wide = 4;  // bytes of a time; a file of version 2 on has all of it a second time with 8
    for (;;) {
      if (bytes.size() < kHeader || !bytes.starts_with("TZif")) return nullptr;
      std::size_t counts[6];  // of the flags of UTC and standard time, leap seconds, times, kinds of time, letters
      for (std::size_t i = 0; i < 6; ++i) {
        const std::int64_t count = number(20 + 4 * i, 4);
        if (count < 0 || count > (1 << 16)) return nullptr;
        counts[i] = static_cast<std::size_t>(count);
      }
      const auto [utc, standard, leap, time, kind, letter] = counts;
      const std::size_t kinds_at = kHeader + time * (wide + 1);
      const std::size_t end = kinds_at + 6 * kind + letter + leap * (wide + 4) + standard + utc;
      if (end > bytes.size() || kind == 0 || leap > 0) return nullptr;  // "right/..." counts leap seconds
      if (wide == 4 && bytes[4] >= '2') {
        bytes.remove_prefix(end);
        wide = 8;
        continue;
      }
      auto rules = std::make_shared<Rules>();
      rules->first = number(kinds_at, 4);
      for (std::size_t i = 0; i < time; ++i) {
        const auto of = static_cast<unsigned char>(bytes[kHeader + time * wide + i]);
        if (of >= kind) return nullptr;
        rules->times.push_back(number(kHeader + i * wide, wide));
        rules->ahead.push_back(number(kinds_at + std::size_t{6} * of, 4));
      }
      if (!std::ranges::is_sorted(rules->times)) return nullptr;
      std::string_view footer = bytes.substr(end);
      if (footer.starts_with('\n')) {
        footer.remove_prefix(1);
        rules->later = RuleReader(footer.substr(0, footer.find('\n'))).read();
      }
      return rules;
    }
  }

  // By a name of the database; null: it has none of this name.
  static std::shared_ptr<const Rules> named(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const Rules>> known;  // by path; few, and they never go
    const bool is_name = !name.empty() && name[0] != '/' && name.find("..") == std::string::npos &&
                         name.find('\0') == std::string::npos && name != "localtime" && name != "posixrules";
    if (!is_name) return nullptr;
    const std::string path = databaseFolder() + "/" + name;
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(path); found != known.end()) return found->second;
    auto rules = ofFile(path);
    if (rules) known.emplace(path, rules);
    return rules;
  }
};

CameraClock::CameraClock(const std::string& zone) {
  if (const auto minutes = offsetOf(zone)) {
    *this = ahead(*minutes);
    return;
  }
  rules_ = Rules::named(zone);
  zone_ = zone;
  if (rules_) return;
  std::error_code error;
  const std::string folder = databaseFolder();
  throw Error("'" + zone + "' is neither an offset from UTC, such as +01:00, nor a zone, such as Europe/Paris" +
              (fs::exists(folder + "/Europe", error) ? "" : ": '" + folder + "' is missing (install tzdata)"));
}

CameraClock CameraClock::ahead(int minutes) {
  CameraClock clock;
  clock.offset_ = minutes * kMinuteMs;
  clock.zone_ = vision::offsetText(clock.offset_, "");
  return clock;
}

CameraClock CameraClock::ofMachine() {
  static std::mutex mutex;
  static std::map<std::string, CameraClock> known;  // by TZ, which tests change
  const char* const set = std::getenv("TZ");
  const std::string key = set ? set : "/etc/localtime";
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;

  CameraClock clock;
  const std::string text = key.starts_with(':') ? key.substr(1) : key;
  if (text.starts_with('/')) {
    std::error_code ignored;
    const std::string file = fs::weakly_canonical(text, ignored).string(), folder = databaseFolder() + "/";
    std::string name = file.starts_with(folder) ? file.substr(folder.size()) : "";
    clock.rules_ = name.empty() ? nullptr : Rules::named(name);
    if (!clock.rules_) {
      name.clear();
      clock.rules_ = Rules::ofFile(text);
    }
    if (clock.rules_) clock.zone_ = name;
  } else if (auto rules = Rules::named(text)) {
    clock.rules_ = std::move(rules);
    clock.zone_ = text;
  } else if (const auto rule = RuleReader(text).read()) {
    auto fresh = std::make_shared<Rules>();
    fresh->later = rule;
    clock.rules_ = std::move(fresh);
    clock.zone_.clear();
  }
  return known.emplace(key, clock).first->second;
}

CameraClock clockOrMachine(const std::optional<CameraClock>& known) {
  return known ? *known : CameraClock::ofMachine();
}

std::string CameraClock::name() const {
  if (zone_ == "Etc/UTC") return "UTC";  // where /etc/localtime of a machine in UTC leads to
  if (rules_) return zone_.empty() ? "local time" : zone_;
  return offset_ == 0 ? "UTC" : vision::offsetText(offset_, "UTC");
}

std::string CameraClock::localTime(UnixMs time) const {
  std::string text = isoTime(wall(time));
  text.pop_back();  // the Z
  return text + vision::offsetText(offset(time), "");
}

std::string CameraClock::offsetText(UnixMs time) const { return vision::offsetText(offset(time), "UTC"); }

UnixMs CameraClock::offset(UnixMs time) const {
  if (!rules_) return offset_;
  using namespace std::chrono;
  return rules_->at(floor<seconds>(milliseconds(std::clamp(time, -kFarthest, kFarthest))).count()) * kSecondMs;
}

UnixMs CameraClock::time(UnixMs wall, Twice twice) const {
  if (!rules_) return wall - offset_;
  // No clock is more than 15 hours ahead of UTC or behind it, and none is changed twice within two days.
  const UnixMs before = offset(wall - 15 * kHourMs), after = offset(wall + 15 * kHourMs);
  const UnixMs early = wall - std::max(before, after), late = wall - std::min(before, after);
  const bool at_early = this->wall(early) == wall, at_late = this->wall(late) == wall;
  if (at_early && at_late) return twice == Twice::kFirst ? early : late;
  if (at_early || at_late) return at_early ? early : late;
  return wall - before;
}

UnixMs CameraClock::startOfDay(UnixMs time, int days) const {
  CivilTime civil = civilTime(wall(time));
  return this->time(wallTime({civil.year, civil.month, civil.day + days}));
}

std::vector<std::pair<UnixMs, UnixMs>> CameraClock::offsets(UnixMs from, UnixMs to) const {
  constexpr UnixMs kStep = 7 * kDayMs;  // no clock is changed there and back within a week
  std::vector<std::pair<UnixMs, UnixMs>> all = {{from, offset(from)}};
  if (!rules_) return all;
  for (UnixMs before = from; before < to;) {
    const UnixMs after = std::min(to, before + kStep);
    if (offset(after) != all.back().second) {
      UnixMs same = before, changed = after;
      while (changed - same > 1) {
        const UnixMs middle = same + (changed - same) / 2;
        (offset(middle) == all.back().second ? same : changed) = middle;
      }
      if (changed < to) all.emplace_back(changed, offset(changed));
    }
    before = after;
  }
  return all;
}

CameraClock CameraClock::standardTime(UnixMs around) const {
  if (!rules_) return *this;
  UnixMs least = offset(around);
  for (int days = -182; days <= 182; days += 14) least = std::min(least, offset(around + days * kDayMs));
  return ahead(static_cast<int>(least / kMinuteMs));
}

CivilTime civilTime(UnixMs wall) {
  using namespace std::chrono;
  const sys_time<milliseconds> moment(milliseconds(std::clamp(wall, -kFarthest, kFarthest)));
  const auto day = floor<days>(moment);
  const year_month_day date(day);
  const hh_mm_ss time(moment - day);
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(time.hours().count()),
          static_cast<int>(time.minutes().count()),
          static_cast<int>(time.seconds().count()),
          static_cast<int>(time.subseconds().count())};
}

UnixMs wallTime(const CivilTime& civil) {
  return dayNumber(civil.year, civil.month, civil.day) * kDayMs + civil.hour * kHourMs + civil.minute * kMinuteMs +
         civil.second * kSecondMs + civil.millisecond;
}

}  // namespace mpm::vision
