# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: half of the compile time of most files is spent in the headers of other projects.
# mpm_precompile(TARGET SET...): gives TARGET the headers of these sets. A unity build (CMAKE_UNITY_BUILD), which is
# what the scripts make, reads each header a few times only and does without them.
set(mpm_headers_std <algorithm> <chrono> <cmath> <filesystem> <functional> <map> <memory> <optional> <string> <vector>)
set(mpm_headers_opencv <opencv2/core.hpp> <opencv2/core/utility.hpp>)
set(mpm_headers_dnn <opencv2/dnn.hpp>)
set(mpm_headers_onnx <onnx/onnx_pb.h>)
set(mpm_headers_json <nlohmann/json.hpp>)
set(mpm_headers_cli <CLI/CLI.hpp>)
set(mpm_headers_qt <QtGui>)
set(mpm_headers_widgets <QtWidgets>)
set(mpm_headers_torch <torch/torch.h>)
set(mpm_headers_test <gmock/gmock.h> <gtest/gtest.h>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND NOT CMAKE_UNITY_BUILD)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 takes a precompiled <string> for a header of ours and reports its false alarms (GCC bug 105651).
    target_compile_options(mpm_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()

function(mpm_precompile target)
  if(CMAKE_UNITY_BUILD)
    return()
  endif()
  set(headers ${mpm_headers_std})
  foreach(set IN LISTS ARGN)
    list(APPEND headers ${mpm_headers_${set}})
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
