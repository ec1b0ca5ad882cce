# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS mpm_layer EXPORT mpm_layerTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
if(TARGET mpm_cuda)
  install(TARGETS mpm_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda NAMELINK_SKIP)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/mpm_layer/include/mpm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT mpm_layerTargets NAMESPACE mpm:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpm_layer)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mpm_layerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/mpm_layerConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpm_layer)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mpm_layerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mpm_layerConfig.cmake ${PROJECT_BINARY_DIR}/mpm_layerConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpm_layer)
# For pkg-config: the modules of OpenCV that a small program uses. opencv4.pc links all of them, and its -I shows the warnings
# of OpenCV's headers.
set(mpm_opencv_libs "")
get_target_property(opencv_core opencv_core LOCATION)
cmake_path(GET opencv_core PARENT_PATH opencv_folder)
if(NOT opencv_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(mpm_opencv_libs " -L${opencv_folder}")
endif()
string(APPEND mpm_opencv_libs " -lopencv_imgcodecs -lopencv_imgproc -lopencv_dnn -lopencv_core")
list(TRANSFORM OpenCV_INCLUDE_DIRS PREPEND " -isystem " OUTPUT_VARIABLE mpm_opencv_cflags)
list(JOIN mpm_opencv_cflags "" mpm_opencv_cflags)
# Relative, so that the installed tree can be moved and `cmake --install --prefix` works.
file(RELATIVE_PATH mpm_prefix_from_pc "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/mpm_layer.pc.in ${PROJECT_BINARY_DIR}/mpm_layer.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mpm_layer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
