# SPDX-License-Identifier: Apache-2.0
# Questions that one place answers (docs/architecture.md, "Questions and their answers"): a line elsewhere that answers one again fails.
cmake_minimum_required(VERSION 3.25)
set(failures "")

# check(ADVICE WORDS regex... IN folders or files... [EXCEPT files...]): no line of IN matches one of WORDS.
function(check advice)
  cmake_parse_arguments(PARSE_ARGV 1 rule "" "" "WORDS;IN;EXCEPT")
  list(JOIN rule_WORDS "|" words)
  set(files "")
  foreach(place IN LISTS rule_IN)
    if(IS_DIRECTORY ${SOURCE_DIR}/${place})
      file(GLOB_RECURSE found ${SOURCE_DIR}/${place}/*.h ${SOURCE_DIR}/${place}/*.cpp)
    else()
      file(GLOB found ${SOURCE_DIR}/${place})
    endif()
    list(APPEND files ${found})
  endforeach()
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${SOURCE_DIR} ${file})
    if(name IN_LIST rule_EXCEPT)
      continue()
    endif()
    file(STRINGS ${file} lines REGEX "(^|[^A-Za-z0-9_])(${words})")
    foreach(line IN LISTS lines)
      string(STRIP "${line}" line)
      string(APPEND failures "${name}: ${line}: ${advice}\n")
    endforeach()
  endforeach()
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

# vision/camera_clock.h is the only code that turns moments into dates, so that all pages, charts and files have the same days. The
# functions of the C library and of Qt follow the zone of the machine, and TZ is one for the whole process.
set(clocks "localtime(_r)?\\(" "gmtime(_r)?\\(" "mktime\\(" "timegm\\(" "tzset\\(" "toLocalTime\\(" "Qt::LocalTime"
  "fromMSecsSinceEpoch\\([^,()]*\\)\\." "QDateTime::currentDateTime\\(" "QDate::currentDate\\(" "QTime::currentTime\\("
  "current_zone\\(" "zoned_time" "QTimeZone::systemTimeZone")
check("use vision::CameraClock" WORDS ${clocks} IN toolkit cli gui train)

# Night is decided when a sample is recorded, or by the pass of the writer (store/sum_up.cpp with corrected_times.cpp, which connection.cpp calls). Readers have the stored answer.
check("readers have the stored answer, Sample::night"
  WORDS "NightBy(Sun|Brightness|Hours)" "DayNight [a-z_]+[({]" "DayNight\\("
  IN toolkit/monitor/store toolkit/page toolkit/charts cli/report cli/verbs/report.cpp cli/video.cpp gui/models
  EXCEPT toolkit/monitor/store/sum_up.cpp toolkit/monitor/store/corrected_times.cpp toolkit/monitor/store/connection.cpp)

# The database is read and written in monitor/store: spans of sources, gaps and sums are asked of StoreReader.
check("use StoreReader or StoreWriter" WORDS "\"(SELECT|INSERT|UPDATE|DELETE) " IN toolkit/page toolkit/charts cli gui
  toolkit/monitor/*.cpp toolkit/monitor/tell toolkit/monitor/watch toolkit/monitor/capture toolkit/monitor/statistics)

# Whether an alarm rings is in the column alarms of its source. The only text of an event that is read again is the date of a summary.
check("texts of events are for people only" WORDS "message\\.(starts_with|ends_with|find|contains|substr)\\("
  IN toolkit/monitor toolkit/page cli EXCEPT toolkit/monitor/daily_summary.cpp)

# What is judged and measured again is another series, or the pass of the writer. Samples are not replaced where they lie.
check("StoreWriter::judge() or a new series" WORDS "setNightRule" "judgedSamples" "replaceSamples" IN toolkit cli gui)

# Another program's database is in a window of its own (gui/history_window.h): no part of the app asks whose the one on show is.
check("open a HistoryWindow" WORDS "[a-zA-Z]*[fF]oreign[a-zA-Z_]*" IN gui)

# How long a camera may be silent is said by its pace.
check("use Pace" WORDS "2\\.5 \\*" "\\* 2\\.5([^0-9]|$)" IN toolkit/monitor toolkit/page cli gui/models gui/controllers EXCEPT toolkit/monitor/pace.h)

# A file beside a stored picture has one writer and one reader.
check("use readStored()" WORDS "\"(hides|turn_degrees)\"" IN toolkit/page cli gui toolkit/monitor
  EXCEPT toolkit/monitor/store/snapshot.cpp toolkit/monitor/store/sample.cpp toolkit/monitor/store/sample.h)

# Pictures of an archive leave it as people may see them.
check("use ArchivePicture::picture()" WORDS "hiddenPicture\\(" IN cli gui toolkit
  EXCEPT toolkit/monitor/privacy.cpp toolkit/monitor/privacy.h toolkit/monitor/store/archive_pictures.cpp toolkit/monitor/store/archive_pictures.h
  toolkit/monitor/store/snapshot.cpp)

# The app shows what that reader found. Other JSON with these keys is what a camera tells, or what a report prints.
check("use StoredFrame" WORDS "\"(area_fraction|token_counts)\"" "QJsonDocument" IN gui/models/picture_store.cpp gui/models/calendar.cpp
  gui/controllers)

# Whether the times of a source say how long ago something was, and until when they are believed, is said with the source.
check("use SourceRecord::own_clock and ::end" WORDS "kDemo" "starts_with\\(\"demo" "isSceneName" "\\+ kDayMs, 1\\)" "now \\+ kDayMs"
  IN toolkit/page cli/report cli/verbs/report.cpp cli/video.cpp gui/models/stored_camera.cpp gui/models/history.cpp gui/controllers/stored_moments.cpp)

# What a head of states sees is cut out and weighted in one place, for examples and samples.
check("use evaluation::stateView()" WORDS "cut_out_s" "poolTokens\\(" IN toolkit/monitor toolkit/page cli gui/models gui/controllers
  EXCEPT toolkit/monitor/statistics/state_detector.cpp)

# Intervals and quantiles of a study are computed by evaluation/; its report draws them.
check("evaluation/ computes" WORDS "(percentile|quantile|bootstrap|choice|default_rng|std|var|median|mean|histogram)\\(" IN cli/study/report.py)

# Samples of several models, classes or reductions are never averaged together.
check("an aggregate is of a series, not of a source"
  WORDS "[A-Za-z:<>]*(Rollup|Sums|Spread|Statistics|StateSeries|HourOfTokens)[A-Za-z>]* [a-zA-Z]+\\(std::int64_t source"
  IN toolkit/monitor)

# Sums and means over time are made of the stored sums in one place.
check("use StoreReader::rollup()" WORDS "(FROM|JOIN|INTO|UPDATE) bucket" IN toolkit cli gui
  EXCEPT toolkit/monitor/store/bucket.cpp toolkit/monitor/store/kept.cpp toolkit/monitor/store/retention.cpp
  toolkit/monitor/store/rollup.cpp toolkit/monitor/store/store_reader.cpp toolkit/monitor/store/sum_up.cpp)

# The page shows the charts of charts/, and times by the offsets of the camera's clock that it is given.
check("charts/ draws, by the camera's clock"
  WORDS "(get|set)(Hours|Minutes|Date|Day|Month|FullYear|TimezoneOffset)\\(" "toLocale(Date|Time)String" "polyline" "getContext"
  "\"(line|rect|circle|path)\""
  IN toolkit/page/page.js)

# Which years a calendar has, and when they begin, is said with the camera.
check("use calendarYears()" WORDS "getUTCFullYear\\(" "civilTime\\(" IN toolkit/page toolkit/page/page.js gui)

# What must not count or be seen lies where it followed the view, and at its old place.
check("use coveringMask()" WORDS "movedMask\\(" IN toolkit gui cli EXCEPT toolkit/monitor/statistics/region_meter.cpp
  toolkit/monitor/statistics/region_meter.h toolkit/monitor/statistics/state_detector.cpp)

# Charts have one palette, for paper, the page and the app.
set(digit "[0-9a-fA-F]")
check("use charts::chartColors()" WORDS "0x${digit}${digit}${digit}${digit}${digit}${digit}([^0-9a-fA-F]|$)" "#${digit}${digit}${digit}${digit}${digit}${digit}\""
  IN toolkit/page toolkit/charts cli/report gui/views/chart_scene.cpp gui/views/time_chart.cpp gui/views/calendar_view.cpp
  EXCEPT toolkit/charts/palette.h toolkit/charts/palette.cpp toolkit/charts/calendar.cpp toolkit/charts/svg.cpp)

# One function opens and measures a camera as it is said, for the command, a fleet and the app.
check("use cameraOf()" WORDS "sessionOptions\\(" "inferenceOptions\\(" IN toolkit cli gui
  EXCEPT toolkit/monitor/watch/camera.cpp toolkit/monitor/watch/camera_plan.cpp toolkit/monitor/watch/camera_plan.h)

# A controller knows models. The panels of the window are made and connected by the window, which hands on what they show.
check("hand on what the view shows, as a value"
  WORDS "include \"gui/views/(chart_panel|pictures_pane|image_view|status_line|central_pages|day_night_panel|legend_panel|events_table|speed_panel)\\.h\""
  IN gui/controllers)

# Pictures have one reader, which knows damage, rotation and limits. The sensor of the scene decodes what it has just encoded.
check("use vision::readPicture()" WORDS "cv::imread\\(" "cv::imdecode\\(" IN toolkit cli gui train
  EXCEPT toolkit/vision/pictures/read_picture.cpp toolkit/vision/pictures/pictures.h toolkit/scene/sensor.cpp)

if(failures)
  message(FATAL_ERROR "${failures}")
endif()
