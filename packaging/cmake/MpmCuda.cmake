# SPDX-License-Identifier: Apache-2.0
# mpm_cuda is ON when the CUDA language is enabled and CUDA::cublasLt exists. The default is machine code for every
# architecture from Turing on that this nvcc knows, and PTX of Ada for later GPUs. -DCMAKE_CUDA_ARCHITECTURES=90a builds faster.
# The sources take minutes to compile, so AUTO leaves them out on a machine without the driver of a GPU.
set(mpm_cuda OFF)
if(MPM_WITH_CUDA STREQUAL "ON" OR (MPM_WITH_CUDA STREQUAL "AUTO" AND EXISTS /proc/driver/nvidia/version))
  find_program(MPM_NVCC nvcc DOC "Compiler of the kernels for NVIDIA GPUs")
  if(NOT MPM_NVCC AND MPM_WITH_CUDA STREQUAL "ON")  # required, so also look where NVIDIA's packages install it
    find_program(MPM_NVCC nvcc PATHS /usr/local/cuda/bin NO_DEFAULT_PATH)
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89 90a-real)
    if(MPM_NVCC)
      execute_process(COMMAND ${MPM_NVCC} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
      foreach(newer 87 100 103 110 120 121)  # Jetson Orin; Blackwell and Jetson Thor
        if(known MATCHES "sm_${newer}(\n|$)")
          list(APPEND CMAKE_CUDA_ARCHITECTURES ${newer}-real)
        endif()
      endforeach()
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}" CACHE STRING "Architectures of NVIDIA GPUs to compile for")
  # In code for plain sm_90 the kernels for Hopper's warpgroups end with a trap. A build with both architectures would launch
  # them, and the driver may choose the code for sm_90.
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)90(-|;|$)" AND CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)90a")
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is ${CMAKE_CUDA_ARCHITECTURES}: code for 90 and for 90a cannot be in one build, take one of them")
  endif()
  if(MPM_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${MPM_NVCC})
  endif()
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    include(CheckLanguage)
    check_language(CUDA)  # treats an nvcc that does not work like a missing one
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 and later have it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    # nvcc may compile with another gcc than the project, as Debian's does. The C++ compiler links, with its own libstdc++;
    # nvcc's would come first.
    list(FILTER CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES EXCLUDE REGEX "/gcc/[^/]+/[0-9]+$")
    find_package(CUDAToolkit 12.0 QUIET)
    if(NOT TARGET CUDA::cublasLt AND MPM_CUBLASLT_ROOT)  # nvcc without its libraries: use those of PyTorch
      find_path(MPM_CUBLASLT_INCLUDE cublasLt.h HINTS ${MPM_CUBLASLT_ROOT} PATH_SUFFIXES include)
      find_library(MPM_CUBLASLT_LIBRARY NAMES cublasLt libcublasLt.so.13 libcublasLt.so.12 NAMES_PER_DIR HINTS ${MPM_CUBLASLT_ROOT}
        PATH_SUFFIXES lib lib64)
      if(MPM_CUBLASLT_INCLUDE AND MPM_CUBLASLT_LIBRARY)
        add_library(CUDA::cublasLt UNKNOWN IMPORTED)
        set_target_properties(CUDA::cublasLt PROPERTIES IMPORTED_LOCATION ${MPM_CUBLASLT_LIBRARY}
          INTERFACE_INCLUDE_DIRECTORIES ${MPM_CUBLASLT_INCLUDE})
      endif()
    endif()
    if(TARGET CUDA::cublasLt)
      set(mpm_cuda ON)
    endif()
  endif()
  if(MPM_WITH_CUDA STREQUAL "ON" AND NOT mpm_cuda)
    message(FATAL_ERROR "MPM_WITH_CUDA is ON but no working nvcc with cuBLASLt of CUDA 12 or later was found: put nvcc on the PATH or set CUDACXX; MPM_CUBLASLT_ROOT names a folder with include/cublasLt.h and lib/")
  endif()
endif()
