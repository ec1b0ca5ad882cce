// SPDX-License-Identifier: Apache-2.0
// How the commands find the CUDA plug-in, and what they say when it is of no use.

#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

const std::string kLibraries = MPM_LIBRARY_DIR "/";

class CudaPlugin : public InFolder {
 protected:
  CudaPlugin() { writeImage(image_, 40, 60); }
  CommandResult run(const std::string& device, const std::string& plugin) {
    return mpmCommand({"run", image_, "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--device", device},
                      {.environment = {{"MPM_CUDA_PLUGIN", plugin}}});
  }
  /// `auto` is the CPU; `cuda` is one line with these parts, and info prints the same line.
  void expectNoDevice(const std::string& plugin, const Words& parts) {
    const CommandResult on_cpu = succeeded(run("auto", plugin));
    EXPECT_EQ(on_cpu.err, run("cpu", plugin).err);
    const CommandResult refused = run("cuda", plugin);
    expectFailure(refused, 1, {"device 'cuda': "});
    expectFailure(refused, 1, parts);
    const auto info =
        succeeded(mpmCommand({"info", kSegmenter, "--json"}, {.environment = {{"MPM_CUDA_PLUGIN", plugin}}}));
    EXPECT_EQ(info.err, "");
    EXPECT_TRUE(info.json()["mpm"]["cuda_devices"].empty());
    EXPECT_THAT(refused.err, HasSubstr(info.json()["mpm"]["cuda_problem"].get<std::string>()));
  }
  static std::string nameOfFirstDevice(const std::map<std::string, std::string>& environment) {
    const auto info = mpmCommand({"info", kSegmenter, "--json"}, {.environment = environment}).json();
    return info["mpm"]["cuda_devices"].empty() ? "" : info["mpm"]["cuda_devices"][0]["name"];
  }
  const std::string image_ = folder_ / "street.png";
};

TEST_F(CudaPlugin, MissingIsOneLine) {
  expectNoDevice("/nowhere/libmpm_cuda.so", {"was not loaded (/nowhere/libmpm_cuda.so", "install libmpm_cuda 0."});
}

TEST_F(CudaPlugin, WithoutADriverIsOneLine) {
  expectNoDevice(kLibraries + "libmpm_cuda_without_driver.so", {"no NVIDIA GPU", "driver", "use the device cpu"});
}

TEST_F(CudaPlugin, AGpuThatFailsIsOneLine) {
  const std::string plugin = kLibraries + "libmpm_cuda_fails.so";
  expectFailure(run("cuda", plugin), 1, {"this GPU is out of order"});
  expectFailure(run("cuda:1", plugin), 1, {"this GPU too"});
  expectFailure(run("cuda:2", plugin), 1, {"device 'cuda:2'", "cuda:0 (broken GPU), cuda:1 (broken GPU)"});
}

TEST_F(CudaPlugin, IsFoundBesideTheLibrary) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer must be the first library that is loaded";
#endif
  const std::string library = folder_ / MPM_LIBRARY_SONAME;
  fs::copy_file(MPM_LIBRARY, library);
  fs::copy_file(kLibraries + "libmpm_cuda_fails.so", folder_ / MPM_CUDA_SONAME);
  EXPECT_EQ(nameOfFirstDevice({{"LD_PRELOAD", library}}), "broken GPU");
}

TEST_F(CudaPlugin, IsFoundOnTheLoadersPath) {
  if (fs::exists(kLibraries + MPM_CUDA_SONAME)) GTEST_SKIP() << "there is one beside the library";
  fs::copy_file(kLibraries + "libmpm_cuda_fails.so", folder_ / MPM_CUDA_SONAME);
  EXPECT_EQ(nameOfFirstDevice({{"LD_LIBRARY_PATH", folder_ / ""}}), "broken GPU");
}

}  // namespace
}  // namespace mpm::test
