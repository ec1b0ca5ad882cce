// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vision/time.h"

namespace mpm::vision {

/// The times in the names of pictures, as cameras, phones, programs and scripts write them:
///
/// - date and time in the name, with any of "-_:. T@" or nothing between the parts: 20130708_055413,
/// 2013-07-08_05-54-13,
///   2013-07-08T05:54:13Z, site_2013_07_08_055413, 01-20130708055413-00, IMG_20130708_055413123,
///   Gate-2013-07-08@055413, vlcsnap-2013-07-08-05h54m13s; without seconds 2013-07-08_0554, 201307080554,
///   20130708T0554;
/// - SITES' site_20220101_001_1020 (date, day of the year, hour and minute);
/// - Unix time in seconds or milliseconds: front-1373262853.25;
/// - the date in the folders: 2013-07-08/05-54-13, 2013/07/08/0554_hd, Dahua's 2013-07-08/001/jpg/05/54/13[M][0@0][0].
///
/// An offset from UTC counts: Z, UTC, +0200, +02, +02_00, and with the T of ISO 8601 -0330. "-0001" and "-02" are
/// numbers of pictures. A name with another "+" has no time. PXL_..., of Google's phones, is UTC.
///
/// Four digits behind a date may be a time or a number that counts, and ten digits a time or a serial number. Other
/// names of the same form decide: one of them is no time of day, or none is later than 00:59, or all have one serial
/// number - then none of these names has a time.
class NameTimes {
 public:
  /// Adds what the names of these pictures tell. Paths that were learned already may come again.
  void learn(const std::vector<std::string>& paths);

  /// The time in the name of this picture, or of its name and its folders; nullopt: it has none.
  std::optional<WrittenTime> of(const std::string& path) const;

 private:
  // What is known of the names of one form.
  struct Form {
    bool no_time = false;          // one of them is no time of day
    bool past_first_hour = false;  // one is later than 00:59
    std::string example{};         // one of them,
    std::string number{};          // its Unix time,
    bool several = false;          // and there are others,
    bool numbers_differ = false;   // with another one
  };
  std::map<std::string, Form> forms_;
};

/// The time in a name alone, without folder and ending.
std::optional<WrittenTime> timeInName(std::string_view stem);

}  // namespace mpm::vision
