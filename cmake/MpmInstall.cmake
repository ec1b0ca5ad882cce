# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS mpm_layer EXPORT mpm_layerTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
if(TARGET mpm_cuda)
  install(TARGETS mpm_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda NAMELINK_SKIP)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/mpm_layer/include/mpm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT mpm_layerTargets NAMESPACE mpm:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpm_layer)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mpm_layerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/mpm_layerConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpm_layer)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mpm_layerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mpm_layerConfig.cmake ${PROJECT_BINARY_DIR}/mpm_layerConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpm_layer)
if(OpenCV_VERSION VERSION_GREATER_EQUAL 5)
  set(mpm_opencv_pc opencv5)
else()
  set(mpm_opencv_pc opencv4)
endif()
# Relative, so that the installed tree can be moved and `cmake --install --prefix` works.
file(RELATIVE_PATH mpm_prefix_from_pc "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/mpm_layer.pc.in ${PROJECT_BINARY_DIR}/mpm_layer.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mpm_layer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
