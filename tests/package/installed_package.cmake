# SPDX-License-Identifier: Apache-2.0
# Installs into a scratch prefix and runs what is there. Builds the examples with find_package and with pkg-config and runs
# them; python_test.py compares what they wrote.
file(REMOVE_RECURSE ${SCRATCH})
set(prefix "${SCRATCH}/a pre+fix")
set(run COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} OUTPUT_QUIET ${run})

# The public headers and nothing else.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
list(SORT headers)
set(expected mpm/build_info.hpp mpm/c_api.h mpm/convert.hpp mpm/error.hpp mpm/estimator.hpp mpm/export.hpp
  mpm/head_trainer.hpp mpm/merging.hpp mpm/model_info.hpp mpm/mpm.hpp mpm/options.hpp mpm/read_net.hpp mpm/reuse.hpp
  mpm/run_report.hpp mpm/token_head.hpp mpm/version.hpp)
if(NOT headers STREQUAL expected)
  message(FATAL_ERROR "the installed headers are\n${headers}\nexpected\n${expected}")
endif()

set(FOLDERS ${prefix})
include(${CMAKE_CURRENT_LIST_DIR}/run_paths.cmake)

if(NOT EXISTS ${prefix}/share/doc/mpm_layer/LICENSE)
  message(FATAL_ERROR "the licence is not installed")
endif()

# The programs find the library in any prefix, and the service finds its program.
set(mpm ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${prefix}/bin/mpm)
execute_process(COMMAND ${mpm} convert ${MODEL} -o ${SCRATCH}/labels.onnx ${run})
execute_process(COMMAND ${mpm} convert ${MODEL} -o ${SCRATCH}/logits.onnx --output logits ${run})
execute_process(COMMAND ${mpm} run demo:street?frames=1 --out ${SCRATCH} OUTPUT_QUIET ${run})
set(image ${SCRATCH}/street_000000_overlay.png)  # a picture of the network input's size
file(READ ${prefix}/lib/systemd/system/mpm-monitor@.service service)
string(FIND "${service}" "ExecStart=\"${prefix}/bin/mpm\" monitor" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the service does not start ${prefix}/bin/mpm")
endif()
find_program(systemd_analyze systemd-analyze)
if(systemd_analyze)
  execute_process(COMMAND ${systemd_analyze} security --offline=true --threshold=25 ${prefix}/lib/systemd/system/mpm-monitor@.service
    OUTPUT_QUIET ${run})
endif()

# What draws the report of `mpm study`.
foreach(file study/report.py)
  if(NOT EXISTS ${prefix}/share/mpm/${file})
    message(FATAL_ERROR "share/mpm/${file} is not installed")
  endif()
endforeach()

# What the programs make of their own help.
foreach(file man/man1/mpm.1 bash-completion/completions/mpm zsh/site-functions/_mpm fish/vendor_completions.d/mpm.fish)
  file(READ ${prefix}/share/${file} page)
  string(REPLACE "\\-" "-" page "${page}")
  if(NOT page MATCHES "input-size" OR (file MATCHES "man1" AND NOT page MATCHES "THE BUILT-IN SCENE"))
    message(FATAL_ERROR "share/${file} lacks a part of the help")
  endif()
endforeach()

# The examples, of the installed package alone.
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${EXAMPLES} -B ${SCRATCH}/build -DCMAKE_PREFIX_PATH=${prefix}
  -DOpenCV_DIR=${OPENCV} -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" OUTPUT_QUIET ${run})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH}/build OUTPUT_QUIET ${run})
execute_process(COMMAND ${SCRATCH}/build/segment_image ${MODEL} ${image} ${SCRATCH}/overlay.png OUTPUT_VARIABLE printed ${run})
execute_process(COMMAND ${SCRATCH}/build/opencv_program ${SCRATCH}/logits.onnx ${image} ${SCRATCH}/labels.png ${run})

foreach(example IN ITEMS "${SCRATCH}/build/segment_image" "${SCRATCH}/build/opencv_program" "/usr/bin/python3;${EXAMPLES}/segment.py"
        "sh;${EXAMPLES}/slurm/segment.sh")
  execute_process(COMMAND ${example} RESULT_VARIABLE status ERROR_VARIABLE usage)
  if(NOT status EQUAL 2 OR NOT usage MATCHES "^usage: [^\n]*\n$")
    message(FATAL_ERROR "${example} without arguments: ${status} ${usage}")
  endif()
endforeach()

find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH})
execute_process(COMMAND ${pkg_config} --cflags --libs mpm_layer
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE ${run})
separate_arguments(flags UNIX_COMMAND "${FLAGS} ${flags}")
execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Werror ${EXAMPLES}/segment_image.cpp -o ${SCRATCH}/by_pkg_config
  ${flags} -Wl,-rpath,${prefix}/${LIBDIR} ${run})
execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only ${EXAMPLES}/segment_image.cpp ${flags}
  RESULT_VARIABLE status ERROR_VARIABLE said)
string(REGEX MATCH "error: [^\n]*" said "${said}")
if(status EQUAL 0 OR NOT said MATCHES "mpm_layer needs C\\+\\+20")
  message(FATAL_ERROR "the first error of a program in C++17: ${said}")
endif()
execute_process(COMMAND ${SCRATCH}/by_pkg_config ${MODEL} ${image} ${SCRATCH}/by_pkg_config.png OUTPUT_QUIET ${run})

file(SHA256 ${SCRATCH}/overlay.png overlay)
file(SHA256 ${SCRATCH}/by_pkg_config.png by_pkg_config)
if(NOT overlay STREQUAL by_pkg_config)
  message(FATAL_ERROR "segment_image writes another overlay when it is built with pkg-config")
endif()
if(NOT printed MATCHES "step: ([0-9]+) ([0-9]+) ([0-9]+)\n" OR CMAKE_MATCH_1 LESS_EQUAL CMAKE_MATCH_2
   OR CMAKE_MATCH_2 LESS_EQUAL CMAKE_MATCH_3)
  message(FATAL_ERROR "segment_image merged no tokens: ${printed}")
endif()
