// SPDX-License-Identifier: Apache-2.0
#include "layers/cuda_plugin.h"

#include "support/throws_with.h"

namespace mpm {
namespace {

std::string fake(const std::string& name) { return std::string(MPM_LIBRARY_DIR) + "/libmpm_cuda_" + name + ".so"; }

TEST(CudaPlugin, AMissingFileIsOneLine) {
  EXPECT_MPM_ERROR(loadCudaPlugin("/nowhere/libmpm_cuda.so"),
                   "the CUDA plug-in was not loaded (/nowhere/libmpm_cuda.so");
  EXPECT_MPM_ERROR(loadCudaPlugin("/nowhere/libmpm_cuda.so"), "install libmpm_cuda 0.");
}

TEST(CudaPlugin, AnotherLibraryIsRefused) {
  EXPECT_MPM_ERROR(loadCudaPlugin("libm.so.6"), "'libm.so.6' is not a CUDA plug-in of mpm_layer");
}

TEST(CudaPlugin, AnotherVersionIsRefused) {
  EXPECT_MPM_ERROR(loadCudaPlugin(fake("of_another_version").c_str()),
                   "is version 0.0.9 for OpenCV 4.5.1 and libmpm_layer is");
  EXPECT_MPM_ERROR(loadCudaPlugin(fake("of_another_version").c_str()), kCudaPluginVersion);
}

TEST(CudaPlugin, WithoutADriverThereAreNoDevices) {
  EXPECT_TRUE(loadCudaPlugin(fake("without_driver").c_str()).devices().empty());
}

TEST(CudaPlugin, ErrorsKeepTheirTypes) {
  const CudaPlugin& plugin = loadCudaPlugin(fake("fails").c_str());
  ASSERT_EQ(plugin.devices().size(), 2u);
  EXPECT_EQ(plugin.devices()[1].name, "broken GPU");
  EXPECT_MPM_ERROR(plugin.makeNet(0), "this GPU is out of order");
  using testing::AllOf, testing::Field;
  EXPECT_THAT([&] { plugin.makeNet(1); },
              testing::Throws<cv::Exception>(AllOf(Field(&cv::Exception::code, cv::Error::GpuApiCallError),
                                                   Field(&cv::Exception::err, "this GPU too"))));
}

}  // namespace
}  // namespace mpm
