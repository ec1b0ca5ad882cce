# SPDX-License-Identifier: Apache-2.0
# vision/camera_clock.h is the only code that turns moments into dates, so that all pages, charts and files have the same days. The
# functions of the C library and of Qt follow the zone of the machine, and TZ is one for the whole process.
set(words "localtime(_r)?\\(" "gmtime(_r)?\\(" "mktime\\(" "timegm\\(" "tzset\\(" "toLocalTime\\(" "Qt::LocalTime" "fromMSecsSinceEpoch\\([^,]*\\)\\.")
list(JOIN words "|" words)
set(failures "")
foreach(folder toolkit cli gui train)
  file(GLOB_RECURSE files ${SOURCE_DIR}/${folder}/*.h ${SOURCE_DIR}/${folder}/*.cpp)
  foreach(file IN LISTS files)
    file(STRINGS ${file} lines REGEX "(^|[^A-Za-z_])(${words})")
    foreach(line IN LISTS lines)
      string(STRIP "${line}" line)
      string(APPEND failures "${file}: ${line}: use vision::CameraClock\n")
    endforeach()
  endforeach()
endforeach()
if(failures)
  message(FATAL_ERROR "${failures}")
endif()
