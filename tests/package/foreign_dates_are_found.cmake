# SPDX-License-Identifier: Apache-2.0
# The rule about dates finds each call of a small tree that does not go through the clock of the camera, and no other line.
file(REMOVE_RECURSE ${SCRATCH})
set(wrong "::localtime_r(&second, &parts)" "std::mktime(&parts)" "timegm(&parts)" "time.toLocalTime()" "QDateTime::fromMSecsSinceEpoch(last).date()")
set(right "clock.localtime" "/etc/localtime" "QDateTime::fromMSecsSinceEpoch(clock.wall(time), QTimeZone::utc())" "myTimegm(x)")
list(JOIN wrong "\n" text)
list(JOIN right "\n" good)
file(WRITE ${SCRATCH}/toolkit/charts/chart.cpp "${text}\n${good}\n")
execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${SCRATCH} -P ${CMAKE_CURRENT_LIST_DIR}/dates_come_from_the_camera_clock.cmake
  ERROR_VARIABLE printed)
string(REGEX REPLACE "[ \n]+" " " printed "${printed}")  # CMake breaks long lines
string(REGEX MATCHALL "use vision::CameraClock" found "${printed}")
list(LENGTH found count)
list(LENGTH wrong expected)
if(NOT count EQUAL expected)
  message(SEND_ERROR "expected ${expected} lines, found ${count}: ${printed}")
endif()
