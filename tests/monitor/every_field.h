// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/watch/camera_config.h"

namespace mpm::monitor::test {

/// A watch that says something in every field, with files in `folder`.
inline CameraConfig everyField(const std::string& folder) {
  return {.name = "yard_1-b",
          .title = "The yard, \"north\"",
          .source = "rtsp://camera/it's \"1\"",
          .model = folder + "/a vit.onnx",
          .reduce = "gradual:count=48",
          .refine = "guided",
          .reuse = "threshold=12",
          .input_size = "64x96",
          .precision = "bf16",
          .device = "auto",
          .db = folder + "/été.db",
          .threads = 2,
          .min_score = 0.1,
          .min_overlap = 1.0 / 3,
          .every = 2.5,
          .timeout = 20,
          .times = "list:" + folder + "/times.csv",
          .time_zone = "+05:30",
          .start = "2013-07-08T05:54:13Z",
          .follow = true,
          .night = "hours",
          .night_hours = "21:00-06:30",
          .lat = -33.8675,
          .lon = 151.207,
          .night_elevation = 0,
          .night_brightness = 33,
          .day_brightness = 50,
          .regions = folder + "/yard.json",
          .states = {folder + "/gate.json", folder + "/lamps.json"},
          .state_after = 4,
          .snapshots = folder + "/shots",
          .merge_maps = true,
          .hide = folder + "/windows.json",
          .blur = {"person", "car"},
          .keep = 365,
          .max_size = 2000,
          .snapshot_every = 15,
          .keep_snapshots = 90,
          .min_free = 500,
          .alarm = {"car>20", "tree:gcc<0.35", "tokens>900", "no-frame>60", "gate=open"},
          .alarm_minutes = 0,
          .quality = "dark=20:pictures=3",
          .on_event = "sh -c 'echo \"$MPM_EVENT_KIND\\n\"'",
          .summary = 7};
}

/// The same of the tables that are about all cameras, as TOML.
inline constexpr char kEveryTable[] =
    "[mqtt]\naddress = 'broker:1884'\nprefix = 'yard'\nuser = 'me'\npassword-file = '/password'\n"
    "ca-file = '/ca.pem'\ntls = true\ndiscovery = 'ha'\nurl = 'https://page/'\nevery = 5\npicture = true\n"
    "[webhook]\nurl = 'https://receiver/1'\nurl-file = '/url'\ntoken-file = '/token'\nca-file = '/ca.pem'\n"
    "picture = true\n[page]\naddress = '127.0.0.1:8081'\ntoken-file = '/token'\n"
    "proxy = '172.30.32.2'\n";

}  // namespace mpm::monitor::test
