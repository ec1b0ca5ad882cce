// SPDX-License-Identifier: Apache-2.0
// The fuzzer's target without libFuzzer: that it builds and links wherever the tests do, and a first few mutations of
// every model. scripts/fuzz.sh does the rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

// libFuzzer's own, for bytes that are no graph: here one bit, at a place that depends on the bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t) {
  if (size == 0) return 0;
  std::size_t at = size;
  for (std::size_t i = 0; i < std::min<std::size_t>(size, 64); ++i) at = at * 31 + data[i];
  data[at % size] ^= static_cast<std::uint8_t>(1u << (at / size % 8));
  return size;
}

namespace mpm::test {
namespace {

TEST(FuzzReader, MutatedModelsAreModelsOrErrors) {
  constexpr unsigned kMutations = 12;
  constexpr std::size_t kRoom = 400000;
  int models = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MPM_TEST_DATA_DIR)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string bytes = mpm::readFile(entry.path());
    ++models;
    for (unsigned seed = 0; seed <= kMutations; ++seed) {
      std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
      std::size_t size = data.size();
      data.resize(std::max(size, kRoom));
      for (unsigned more = 0; more < seed; ++more)  // 0: the model itself
        size = LLVMFuzzerCustomMutator(data.data(), size, data.size(), 1000 * seed + more);
      EXPECT_EQ(LLVMFuzzerTestOneInput(data.data(), size), 0);
    }
  }
  EXPECT_GT(models, 30);
}

}  // namespace
}  // namespace mpm::test
