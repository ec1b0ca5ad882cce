// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"
#include "train/safetensors.h"

namespace mpm::train {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string tensorFile(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + header + data;
}

TEST(TensorFile, ComesBackAsItWas) {
  const TemporaryFolder folder;
  const TensorFile file{{{"a", {{2, 3}, {1, 2, 3, 4, 5, -6.5f}}}, {"b.scalar", {{}, {7}}}}, {{"key", "a \"value\""}}};
  writeTensorFile(folder / "x.safetensors", file);
  const TensorFile back = readTensorFile(folder / "x.safetensors");
  ASSERT_EQ(back.tensors.size(), 2u);
  EXPECT_EQ(back.tensors.at("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(back.tensors.at("a").values, file.tensors.at("a").values);
  EXPECT_EQ(back.tensors.at("b.scalar").values, file.tensors.at("b.scalar").values);
  EXPECT_EQ(back.metadata, file.metadata);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.safetensors.part"));
}

TEST(TensorFile, WidensHalves) {
  const TemporaryFolder folder;
  const std::string header =
      R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}})";
  const std::uint16_t bits[] = {0x3c00, 0xc100, 0x4049};  // 1, -2.5; 3.140625
  writeFileAtomically(folder / "x", tensorFile(header, std::string(reinterpret_cast<const char*>(bits), sizeof bits)));
  const TensorFile file = readTensorFile(folder / "x");
  EXPECT_THAT(file.tensors.at("h").values, ElementsAre(1.f, -2.5f));
  EXPECT_THAT(file.tensors.at("b").values, ElementsAre(3.140625f));
}

TEST(TensorFile, RefusesDamage) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  EXPECT_THROW(readTensorFile(path), Error) << "there is no such file";
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  for (const std::string& bytes : {
           std::string("short"), std::string(16, '\xff'), tensorFile("{\"a\":", "12345678"), tensorFile("[1]", ""),
           tensorFile(good, "1234567"),                                                           // cut
           tensorFile(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678"),   // shape too large
           tensorFile(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "12345678"),  // negative
           tensorFile(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "12345678"),   // backwards
           tensorFile(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", "12345678"),   // integers
           tensorFile(R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "12345678"),                 // no type
       }) {
    writeFileAtomically(path, bytes);
    EXPECT_THROW(readTensorFile(path), Error) << bytes;
  }
  writeFileAtomically(path, tensorFile(R"({"a":{"dtype":"\u001b[2J","shape":[1],"data_offsets":[0,8]}})", "12345678"));
  EXPECT_MPM_ERROR(readTensorFile(path), R"(its type \x1b[2J is not F32)");
  writeFileAtomically(path, tensorFile(good, "12345678"));
  EXPECT_NO_THROW(readTensorFile(path));
}

TEST(Files, AFileThatCannotBeWrittenStaysAsItWas) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "taken");
  EXPECT_MPM_ERROR((writeFileAtomically(folder / "taken", "x")), "taken");
  EXPECT_FALSE(std::filesystem::exists(folder / "taken.part"));
  EXPECT_THROW(writeFileAtomically(folder / "none/x", "x"), Error);
}

TEST(Checkpoint, ComesBackAsItWas) {
  const TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.recipe.lr = 0.1 + 0.2;  // not short in decimal
  checkpoint.recipe.classes = {{"road", {{1, 2, 3}}}, {"sky", {{255, 128, 0}}}};
  checkpoint.recipe.data = "some/where";
  checkpoint.step = 1234;
  checkpoint.seconds = 56.5;
  checkpoint.class_weights = {0.5f, 2};
  checkpoint.state = {{"w", {{2}, {1, 2}}}, {"adam.mean.w", {{2}, {3, 4}}}};
  writeCheckpoint(folder / "c", checkpoint);
  const Checkpoint back = readCheckpoint(folder / "c");
  EXPECT_EQ(toJson(back.recipe), toJson(checkpoint.recipe));
  EXPECT_EQ(back.recipe.lr, checkpoint.recipe.lr);
  EXPECT_EQ(back.step, 1234);
  EXPECT_EQ(back.seconds, 56.5);
  EXPECT_EQ(back.class_weights, checkpoint.class_weights);
  EXPECT_EQ(back.state.size(), 2u);
}

TEST(Checkpoint, RefusesAFileOfSomeoneElse) {
  const TemporaryFolder folder;
  writeTensorFile(folder / "c", {{{"w", {{1}, {1}}}}, {}});
  EXPECT_MPM_ERROR((readCheckpoint(folder / "c")), "not a checkpoint of mpm-train");
}

NetworkConfig small(int classes, Size2 input) {
  NetworkConfig config;
  config.dim = 64;
  config.blocks = 1;
  config.decoder_blocks = 1;
  config.classes = classes;
  config.input = input;
  return config;
}

TEST(StartingWeights, TakesTheAverageOfACheckpoint) {
  const TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.recipe.size = {64, 96};
  checkpoint.state = {{"w", {{1}, {1}}}, {"average.w", {{1}, {2}}}, {"adam.mean.w", {{1}, {3}}}};
  writeCheckpoint(folder / "c", checkpoint);
  const StartingWeights start = readStartingWeights(folder / "c", small(3, {32, 32}), {});
  ASSERT_EQ(start.weights.size(), 1u);
  EXPECT_EQ(start.weights.at("w").values[0], 2);
  EXPECT_EQ(start.config.input, (Size2{64, 96}));
}

TEST(StartingWeights, TakesTheEncoderOfATimmFileAndAFreshDecoder) {
  const TemporaryFolder folder;
  const NetworkConfig square = small(3, {64, 64}), wanted = small(5, {32, 96});
  TensorFile file;
  for (const auto& [name, tensor] : initialWeights(square, 7))
    if (name.starts_with("encoder.")) file.tensors[name.substr(8)] = tensor;
  file.tensors["head.weight"] = {{2, 64}, std::vector<float>(128)};  // a classifier: of no use here
  writeTensorFile(folder / "vit.safetensors", file);
  const TensorMap random = initialWeights(wanted, 1);
  const StartingWeights start = readStartingWeights(folder / "vit.safetensors", wanted, random);
  const TensorMap fitted = fittedWeights(start.weights, start.config, wanted, random);
  EXPECT_EQ(fitted.size(), random.size());
  EXPECT_EQ(fitted.at("encoder.blocks.0.attn.qkv.weight").values, file.tensors.at("blocks.0.attn.qkv.weight").values);
  EXPECT_EQ(fitted.at("decoder.proj_dec.weight").values, random.at("decoder.proj_dec.weight").values);
  EXPECT_EQ(fitted.at("encoder.pos_embed").shape, (std::vector<std::int64_t>{1, 1 + 2 * 6, 64}));
}

}  // namespace
}  // namespace mpm::train
