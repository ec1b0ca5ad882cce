// SPDX-License-Identifier: Apache-2.0
#include "vision/times/name_times.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "vision/camera_clock.h"
#include "vision/times/text_reader.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

// What the digits of a name say.
struct Reading {
  WrittenTime time{};
  /// Of names whose digits mean the same; empty: it is a time for sure, whatever other names say.
  std::string form{};
  bool is_time = true;     ///< false: no time of day, so that digits of this form are none
  bool may_count = false;  ///< it may be a number that counts
  std::string number{};    ///< a Unix time, which may be a serial number
};

struct Date {
  int year = 0, month = 0, day = 0;
  char mark = 0;              // between its parts; 0: none
  bool month_joined = false;  // 2013_0708

  std::optional<UnixMs> midnight() const { return unixTime(year, month, day, 0, 0, 0); }
};

struct TimeOfDay {
  int hour = 0, minute = 0;
  std::optional<int> second{};
  int millisecond = 0;
  bool joined = false;  // no mark between its parts

  bool valid() const { return hour < 24 && minute < 60 && second.value_or(0) < 60; }
  UnixMs sinceMidnight() const {
    return hour * kHourMs + minute * kMinuteMs + second.value_or(0) * kSecondMs + millisecond;
  }
};

// 20130708, 2013-07-08, 2013_0708.
std::optional<Date> takeDate(Rest& rest) {
  Date date;
  const auto year = rest.takeNumber(4);
  date.mark = rest.takeOne("-_:. ").value_or('\0');
  const auto month = rest.takeNumber(2);
  if (!year || !month) return std::nullopt;
  date.month_joined = date.mark && rest.startsWithDigit();
  if (date.mark && !date.month_joined && rest.takeOne("-_:. ") != date.mark) return std::nullopt;
  const auto day = rest.takeNumber(2);
  if (!day) return std::nullopt;
  date.year = *year;
  date.month = *month;
  date.day = *day;
  return date.midnight() ? std::optional(date) : std::nullopt;
}

// What stands between date and time: 'T' for ISO 8601, ' ' for anything else, 0 for nothing.
std::optional<char> takeBetween(Rest& rest) {
  if (rest.startsWithDigit()) return '\0';
  if (rest.takeOne("Tt")) return rest.startsWithDigit() ? std::optional('T') : std::nullopt;
  for (const char* word : {" at ", "_at_", "-at-", "@"})
    if (rest.take(word)) return ' ';
  std::size_t marks = 0;
  while (rest.takeOne(" _-.:")) ++marks;
  return marks >= 1 && marks <= 3 && rest.startsWithDigit() ? std::optional(' ') : std::nullopt;
}

// 055413, 055413250, 0554, 05-54-13, 05-54, 05h54m13s; a fraction behind the seconds, AM or PM behind all.
std::optional<TimeOfDay> takeTimeOfDay(Rest& rest) {
  TimeOfDay time;
  const std::size_t digits = rest.digits();
  if (digits == 4 || digits == 6 || digits == 9) {
    time.joined = true;
    time.hour = *rest.takeNumber(2);
    time.minute = *rest.takeNumber(2);
    if (digits > 4) time.second = rest.takeNumber(2);
  } else if (digits == 2) {
    time.hour = *rest.takeNumber(2);
    const char mark = rest.takeOne("-_:.hH ").value_or('\0');
    if (!mark || rest.digits() != 2) return std::nullopt;
    time.minute = *rest.takeNumber(2);
    const Rest before = rest;
    const bool hours = mark == 'h' || mark == 'H';
    if (rest.takeOne(hours ? std::string_view("mM") : std::string_view(&mark, 1)) &&
        (rest.digits() == 2 || rest.digits() == 5)) {
      time.second = rest.takeNumber(2);
      if (hours) (void)rest.takeOne("sS");
    } else {
      rest = before;
    }
  } else {
    return std::nullopt;
  }
  if (rest.startsWithDigit()) {  // phones write milliseconds without a point
    time.millisecond = rest.takeMilliseconds();
  } else if (Rest after = rest; time.second && after.takeOne(".,") && after.startsWithDigit()) {
    time.millisecond = after.takeMilliseconds();
    rest = after;
  }
  Rest after = rest;
  (void)after.takeOne(" _-");
  const auto half = after.takeOne("AaPp");
  if (half && after.takeOne("Mm") && !after.startsWithLetter() && !after.startsWithDigit() && time.hour <= 12) {
    const bool afternoon = *half == 'P' || *half == 'p';
    time.hour = time.hour % 12 + (afternoon ? 12 : 0);
    rest = after;
  }
  return time;
}

// "0200", "02:00", "02_00", "02", behind a sign. Minutes; nullopt: no zone has this offset, or more digits follow.
std::optional<int> takeAmount(Rest& rest, bool hours_alone) {
  const auto hours = rest.takeNumber(2);
  if (!hours) return std::nullopt;
  const Rest before = rest;
  (void)rest.takeOne(":_.-");
  const auto minutes = rest.digits() == 2 ? rest.takeNumber(2) : std::nullopt;
  if (!minutes) rest = before;
  if (!minutes && !hours_alone) return std::nullopt;
  if (*hours > 14 || minutes.value_or(0) % 15 != 0 || minutes.value_or(0) > 45 || rest.startsWithDigit())
    return std::nullopt;
  return 60 * *hours + minutes.value_or(0);
}

// Reads the offset behind a time of a name, if there is one. False: there is something like one that cannot be read.
bool readOffsetOfName(Rest rest, bool iso, std::optional<int>& offset) {
  const auto ends = [](const Rest& after) { return !after.startsWithLetter() && !after.startsWithDigit(); };
  if (Rest after = rest; after.takeOne("Zz") && ends(after)) {
    offset = 0;
    return true;
  }
  Rest after = rest;
  (void)after.takeOne(" _-");
  const bool named = after.take("UTC") || after.take("GMT");
  if (named && ends(after) && !after.text.starts_with('+') && !after.text.starts_with('-')) {
    offset = 0;
    return true;
  }
  if (named || after.text.starts_with('+')) rest = after;
  const auto sign = rest.takeOne("+-");
  if (!sign) return true;
  const bool colon = rest.text.size() > 2 && rest.text[2] == ':';
  const auto amount = takeAmount(rest, *sign == '+' || named);
  if (*sign == '+' || named) {
    if (amount) offset = *sign == '+' ? *amount : -*amount;
    return amount.has_value();
  }
  // West of Greenwich offsets are whole or half hours: "-0001" and "-0015" are numbers of pictures.
  if (amount && (iso || colon) && *amount >= 60 && *amount <= 12 * 60 && *amount % 30 == 0) offset = -*amount;
  return true;
}

// Names alike but for their numbers have one form.
std::string formOf(std::string_view text) {
  std::string form;
  for (const char c : text) {
    if (!isDigit(c))
      form += c;
    else if (form.empty() || form.back() != '0')
      form += '0';
  }
  return form;
}

// A size of a picture, "1920x1080" or "1440p".
bool isSize(Rest rest) {
  if (rest.takeOne("pP")) return !rest.startsWithLetter();
  return rest.takeOne("xX") && rest.startsWithDigit();
}

// A date and a time, from the beginning of `text`.
std::optional<Reading> dateAndTime(std::string_view text, std::string_view stem) {
  Rest rest{text};
  const auto date = takeDate(rest);
  const auto between = date ? takeBetween(rest) : std::nullopt;
  if (!between || (!*between && date->mark)) return std::nullopt;
  const bool marked_hour = rest.digits() == 2;
  const auto time = takeTimeOfDay(rest);
  if (!time || (!*between && marked_hour) || (date->month_joined && !(time->joined && time->second)))
    return std::nullopt;
  Reading reading{.time = {.wall = *date->midnight() + time->sinceMidnight()}, .is_time = time->valid()};
  if (time->second) {
    if (!reading.is_time) return std::nullopt;
  } else {
    if (isSize(rest) || *date->midnight() > unixNow() + 2 * kDayMs) return std::nullopt;
    reading.may_count = time->joined && *between != 'T';
    reading.form = formOf(stem);
  }
  if (!readOffsetOfName(rest, *between == 'T', reading.time.offset)) return std::nullopt;
  if (!reading.time.offset && stem.starts_with("PXL_")) reading.time.offset = 0;
  return reading;
}

// SITES: 20220101_001_1020.
std::optional<Reading> dayOfYear(std::string_view text, std::string_view) {
  Rest rest{text};
  const auto year = rest.takeNumber(4), month = rest.takeNumber(2), day = rest.takeNumber(2);
  if (!year || !month || !day || !rest.takeOne("_")) return std::nullopt;
  const auto of_year = rest.takeNumber(3);
  if (!of_year || !rest.takeOne("_")) return std::nullopt;
  const auto hour = rest.takeNumber(2), minute = rest.takeNumber(2);
  if (!hour || !minute || rest.startsWithDigit()) return std::nullopt;
  const auto time = unixTime(*year, *month, *day, *hour, *minute, 0), january = unixTime(*year, 1, 1, 0, 0, 0);
  if (!time || (*time - *january) / kDayMs + 1 != *of_year) return std::nullopt;
  return Reading{.time = {.wall = *time}};
}

// A number of seconds since 1970 from the year 2000 to tomorrow, or of milliseconds: 2024070812 is a date.
std::optional<Reading> ofUnix(std::string_view text, std::string_view stem) {
  Rest rest{text};
  const std::size_t digits = rest.digits();
  const bool glued = text.data() > stem.data() && isLetter(*(text.data() - 1));
  if ((digits != 10 && digits != 13) || glued) return std::nullopt;
  const std::string number(text.substr(0, digits));
  UnixMs time = std::stoll(number) * (digits == 10 ? kSecondMs : 1);
  rest.text.remove_prefix(digits);
  if (time < 946'684'800'000 || time > unixNow() + kDayMs || rest.startsWithLetter()) return std::nullopt;
  if (digits == 10 && rest.takeOne(".") && rest.startsWithDigit()) time += rest.takeMilliseconds();
  return Reading{.time = {.wall = time, .offset = 0}, .form = "unix " + formOf(stem), .number = number};
}

// A time of day of the date of a folder, in the name of a picture. `folders`: those between the two.
std::optional<Reading> timeOfDay(const std::string& stem, UnixMs midnight, const std::vector<std::string>& folders) {
  const auto twoDigits = [](const std::string& name) { return name.size() == 2 && Rest{name}.digits() == 2; };
  std::string form = "day ";
  for (const std::string& folder : folders) form += formOf(folder) + "/";
  form += formOf(stem);
  if (const std::size_t n = folders.size(); n >= 2 && twoDigits(folders[n - 1]) && twoDigits(folders[n - 2])) {
    Rest rest{stem};  // Dahua has the seconds in the name, and a folder for each hour and minute
    if (rest.digits() != 2) return std::nullopt;
    TimeOfDay time{.hour = std::stoi(folders[n - 2]), .minute = std::stoi(folders[n - 1])};
    time.second = rest.takeNumber(2);
    return Reading{.time = {.wall = midnight + time.sinceMidnight()}, .form = form, .is_time = time.valid()};
  }
  const bool hour_above = std::ranges::any_of(folders, twoDigits);
  std::optional<Reading> minutes;
  bool first = true;
  for (std::size_t i = 0; i < stem.size(); ++i) {
    if (!isDigit(stem[i]) || (i > 0 && isDigit(stem[i - 1]))) continue;
    Rest rest{std::string_view(stem).substr(i)};
    const auto time = takeTimeOfDay(rest);
    const bool usable = time && !isSize(rest) && !(time->joined && i > 0 && isLetter(stem[i - 1]));
    if (usable && (time->second || (first && !hour_above && (!time->joined || i == 0)))) {
      Reading reading{.time = {.wall = midnight + time->sinceMidnight()},
                      .form = form,
                      .is_time = time->valid(),
                      .may_count = time->joined};
      if (!readOffsetOfName(rest, false, reading.time.offset)) return std::nullopt;
      if (time->second) return reading;
      minutes = reading;
    }
    first = false;
  }
  return minutes;
}

// The date of a folder: "2013-07-08", "site_20130708", and 2013/07/08, 2013/07-08, 2013-07/08 from folder to folder.
std::optional<UnixMs> dateOfFolder(const std::vector<std::string>& folders, std::size_t index) {
  const std::string& name = folders[index];
  for (std::size_t i = 0; i < name.size(); ++i) {  // at its end
    if (!isDigit(name[i]) || (i > 0 && isDigit(name[i - 1]))) continue;
    Rest rest{std::string_view(name).substr(i)};
    if (const auto date = takeDate(rest); date && rest.text.empty()) return date->midnight();
  }
  std::string joined = name;
  for (std::size_t n = 1; n <= 2 && n <= index; ++n) {
    joined = folders[index - n] + "-" + joined;
    Rest rest{joined};
    if (const auto date = takeDate(rest); date && date->mark == '-' && !date->month_joined && rest.text.empty())
      return date->midnight();
    if (joined.size() == 9 && Rest{joined}.digits() == (n == 1 && name.size() == 2 ? 6 : 4)) {  // 201307/08, 2013/0708
      joined.erase(joined.find('-'), 1);
      Rest whole{joined};
      if (const auto date = takeDate(whole); date && whole.text.empty()) return date->midnight();
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// A time for sure if there is one, else the first that may be one.
std::optional<Reading> readingOf(std::string_view stem) {
  std::optional<Reading> doubtful;
  for (auto* const read : {dayOfYear, dateAndTime, ofUnix}) {
    for (std::size_t i = 0; i < stem.size(); ++i) {
      if (!isDigit(stem[i]) || (i > 0 && isDigit(stem[i - 1]))) continue;
      auto reading = read(stem.substr(i), stem);
      if (reading && reading->form.empty()) return reading;
      if (reading && !doubtful) doubtful = std::move(reading);
    }
    if (doubtful) return doubtful;
  }
  return std::nullopt;
}

std::optional<Reading> readingOfPath(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  if (auto reading = readingOf(stem)) return reading;
  constexpr std::size_t kBetween = 4;  // folders, from that of the date to the picture
  std::vector<std::string> folders;
  for (const fs::path& part : fs::absolute(path).lexically_normal().parent_path()) folders.push_back(part.string());
  for (std::size_t i = folders.size(); i-- > 0 && i + kBetween + 1 >= folders.size();) {
    if (const auto date = dateOfFolder(folders, i))
      return timeOfDay(stem, *date, {folders.begin() + static_cast<std::ptrdiff_t>(i) + 1, folders.end()});
  }
  return std::nullopt;
}

}  // namespace

void NameTimes::learn(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const auto reading = readingOfPath(path);
    if (!reading || reading->form.empty()) continue;
    Form& form = forms_[reading->form];
    form.no_time |= !reading->is_time;
    const UnixMs of_day = reading->time.wall % kDayMs;
    form.past_first_hour |= reading->is_time && of_day >= kHourMs;
    if (form.example.empty()) {
      form.example = path;
      form.number = reading->number;
    }
    form.several |= form.example != path;
    form.numbers_differ |= form.number != reading->number;
  }
}

std::optional<WrittenTime> NameTimes::of(const std::string& path) const {
  const auto reading = readingOfPath(path);
  if (!reading) return std::nullopt;
  if (reading->form.empty()) return reading->time;
  const auto found = forms_.find(reading->form);
  const Form form = found == forms_.end() ? Form() : found->second;
  const bool past_first_hour = form.past_first_hour || reading->time.wall % kDayMs >= kHourMs;
  if (!reading->is_time || form.no_time || (reading->may_count && !past_first_hour)) return std::nullopt;
  if (!reading->number.empty() && form.several && !form.numbers_differ) return std::nullopt;  // a serial number
  return reading->time;
}

std::optional<WrittenTime> timeInName(std::string_view stem) {
  const auto reading = readingOf(stem);
  const bool counts = reading && reading->may_count && reading->time.wall % kDayMs < kHourMs;
  return reading && reading->is_time && !counts ? std::optional(reading->time) : std::nullopt;
}

}  // namespace mpm::vision
