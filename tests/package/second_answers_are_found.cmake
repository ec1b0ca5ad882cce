# SPDX-License-Identifier: Apache-2.0
# answers_have_one_place.cmake finds each wrong line of a small tree, and no other line.
cmake_minimum_required(VERSION 3.25)

# expect(FILE ADVICE WRONG lines... RIGHT lines...): each of WRONG in FILE is found with this advice, and none of RIGHT.
function(expect file advice)
  cmake_parse_arguments(PARSE_ARGV 2 lines "" "" "WRONG;RIGHT")
  file(REMOVE_RECURSE ${SCRATCH})
  list(JOIN lines_WRONG "\n" wrong)
  list(JOIN lines_RIGHT "\n" right)
  file(WRITE ${SCRATCH}/${file} "${wrong}\n${right}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${SCRATCH} -P ${CMAKE_CURRENT_LIST_DIR}/answers_have_one_place.cmake
    ERROR_VARIABLE printed)
  string(REGEX REPLACE "[ \n]+" " " printed "${printed}")  # CMake breaks long lines
  string(REGEX MATCHALL "${advice}" found "${printed}")
  list(LENGTH found count)
  list(LENGTH lines_WRONG expected)
  if(NOT count EQUAL expected)
    message(SEND_ERROR "${file}: expected ${expected} lines, found ${count}: ${printed}")
  endif()
endfunction()

set(clocks "::localtime_r(&second, &parts)" "std::mktime(&parts)" "timegm(&parts)" "time.toLocalTime()" "QDateTime::fromMSecsSinceEpoch(last).date()"
  "QDateTime::currentDateTime()" "QTime::currentTime()" "std::chrono::current_zone()" "std::chrono::zoned_time now" "QTimeZone::systemTimeZone()")
expect(toolkit/charts/chart.cpp "use vision::CameraClock" WRONG ${clocks}
  RIGHT "clock.localtime" "/etc/localtime" "QDateTime::fromMSecsSinceEpoch(clock.wall(time), QTimeZone::utc())" "myTimegm(x)"
  "QDateTime::currentDateTimeUtc()")
expect(gui/controllers/opener.cpp "open a HistoryWindow" WRONG "if (isForeign(database))" "bool foreign_ = false;" RIGHT "HistoryWindow window(database)")
expect(toolkit/page/page.js "use calendarYears" WRONG "time.getUTCFullYear()" RIGHT "camera.years")
expect(toolkit/monitor/recorder.cpp "use coveringMask" WRONG "movedMask(region, motion)" RIGHT "coveringMask(region, motion)")
expect(toolkit/monitor/store/export.cpp "readers have the stored answer" WRONG "NightByHours hours" "DayNight judge(rule)" "x = DayNight(rule)"
  RIGHT "DayNightSums sums(x)" "store.dayNight(series)" "const DayNightStatistics now = f(x)")
expect(toolkit/monitor/store/sum_up.cpp "readers have the stored answer" RIGHT "DayNight day_night(rule)")
expect(toolkit/monitor/recorder.h "readers have the stored answer" RIGHT "DayNight day_night_")
expect(toolkit/monitor/store/store_reader.h "an aggregate is of a series" WRONG "Spread mean(std::int64_t source)"
  "std::vector<StateSeries> states(std::int64_t source, UnixMs from)" "DayNightStatistics dayNight(std::int64_t source)"
  RIGHT "std::vector<StateSeries> states(std::int64_t series)" "std::vector<Event> events(std::int64_t source)")
expect(gui/models/history.cpp "use StoreReader or StoreWriter" WRONG "rows(\"SELECT max(time_ms) FROM sample\")" RIGHT "// SELECT of a person"
  "tr(\"SELECTED\")")
expect(toolkit/monitor/store/rollup.cpp "use StoreReader or StoreWriter" RIGHT "rows(\"SELECT max(time_ms) FROM sample\")")
expect(toolkit/page/page.cpp "texts of events" WRONG "if (event.message.starts_with(\"alarm\"))" RIGHT "add(event.message)")
expect(toolkit/monitor/fleet.cpp "use Pace" WRONG "now - last > 2.5 * usual" "usual * 2.5;" "usual * 2.5" RIGHT "pace.alive(last, now)" "usual * 2.55;" "12.5 * width")
expect(cli/video.cpp "use ArchivePicture::picture" WRONG "monitor::hiddenPicture(image, size)" RIGHT "picture.picture(hidden)")
expect(gui/controllers/night.cpp "StoreWriter::judge" WRONG "store.setNightRule(rule)" "judgedSamples(source)" "replaceSamples(source)"
  RIGHT "store.judge(source, rule)")
expect(cli/video.cpp "use readStored" WRONG "json.at(\"hides\")" RIGHT "readStored(stem)")
expect(gui/models/picture_store.cpp "use StoredFrame" WRONG "facts[\"area_fraction\"]" "QJsonDocument facts = read(path)" RIGHT "stored.areas")
expect(toolkit/page/page.cpp "use SourceRecord::own_clock" WRONG "kind == vision::SourceKind::kDemo" "latest(owner, 0, now + kDayMs, 1)"
  RIGHT "source.own_clock" "latest(owner, 0, source.end, 1)")
expect(toolkit/monitor/recorder.cpp "use evaluation::stateView" WRONG "if (region.cut_out_s)" RIGHT "stateView(region)")
expect(cli/study/report.py "evaluation/ computes" WRONG "low = np.percentile(values, 2.5)" "x = statistics.median(values)" "np.histogram(values, edges)" RIGHT "low = row[\"low\"]")
expect(toolkit/page/page.cpp "use StoreReader::rollup" WRONG "SELECT sums FROM bucket" RIGHT "from buckets of sums")
expect(toolkit/page/page.js "charts/ draws" WRONG "time.getHours()" "draw(\"rect\", box)" "time.toLocaleTimeString()"
  RIGHT "time.getTime()" "time.toISOString()")
expect(toolkit/page/answers.cpp "use charts::chartColors" WRONG "add(\"by day\", 0xb25e00, dark)" "night = 0xdedee2;" RIGHT "color & 0xffff" "colors.by_day"
  "hash * 0x12345678")
expect(gui/controllers/live.cpp "use cameraOf" WRONG "x = sessionOptions(watch)" "monitor::inferenceOptions(watch)" RIGHT "cameraOf(watch)")
expect(gui/controllers/exports.h "hand on what the view shows" WRONG "#include \"gui/views/chart_panel.h\"" "#include \"gui/views/pictures_pane.h\""
  RIGHT "#include \"gui/views/export_dialog.h\"" "// gui/views/chart_panel.h")
expect(cli/verbs/run.cpp "use vision::readPicture" WRONG "cv::imread(path)" "cv::imdecode(bytes)" RIGHT "vision::readPicture(path)")
