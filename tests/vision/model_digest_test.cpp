// SPDX-License-Identifier: Apache-2.0
#include "vision/model_digest.h"

#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

using mpm::test::TemporaryFolder;
using ModelDigest = test::InFolder;

const std::string kDigestedModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";

TEST_F(ModelDigest, IsAboutTheBytesAndNotTheirName) {
  const std::string digest = modelDigest(kDigestedModel);
  EXPECT_THAT(digest, ::testing::MatchesRegex("[0-9a-f]{16}"));
  fs::copy_file(kDigestedModel, folder_ / "another name.onnx");
  EXPECT_EQ(modelDigest(folder_ / "another name.onnx"), digest);
}

TEST_F(ModelDigest, ChangesWithOneWeight) {
  const std::string copy = folder_ / "vit.onnx";
  fs::copy_file(kDigestedModel, copy);
  std::fstream file(copy, std::ios::binary | std::ios::in | std::ios::out);
  const auto middle = static_cast<std::streamoff>(fs::file_size(copy) / 2);
  file.seekg(middle);
  const int byte = file.get();
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  EXPECT_NE(modelDigest(copy), modelDigest(kDigestedModel));
}

TEST_F(ModelDigest, ChangesWithTheFactsBesideTheModel) {
  const std::string copy = folder_ / "vit.onnx";
  fs::copy_file(kDigestedModel, copy);
  std::ofstream(folder_ / "vit.json") << R"({"mean": [0.5, 0.5, 0.5]})";
  const std::string half = modelDigest(copy);
  EXPECT_NE(half, modelDigest(kDigestedModel));
  std::ofstream(folder_ / "vit.json") << R"({"mean": [0.4, 0.5, 0.5]})";
  EXPECT_NE(modelDigest(copy), half);
}

TEST_F(ModelDigest, NamesTheFileThatCannotBeRead) { EXPECT_MPM_ERROR(modelDigest("no such.onnx"), "no such.onnx"); }

}  // namespace
}  // namespace mpm::vision
