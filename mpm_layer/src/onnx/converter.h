// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <new>
#include <string>

#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "mpm/token_head.hpp"
#include "onnx/emit/emitter.h"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"

namespace mpm::onnx_graph {

/// Converts a parsed model. External data is read from `folder`; empty: there is none. `facts`: the JSON beside the
/// model. `late`: weights that are not in `model` yet. Throws mpm::Error, without the name of the file.
Converted convert(onnx::ModelProto model, const FactsFile& facts, const ConvertOptions& options,
                  const std::filesystem::path& folder, LateWeights late = {});

/// The value of a plain ViT's graph that holds the tokens behind the last block.
struct EncoderOutput {
  std::string name;          ///< in the file
  std::string image;         ///< name of the network input
  bool rows_first = false;   ///< its shape is {special + N, batch, d} instead of {batch, special + N, d}
  std::int64_t special = 0;  ///< rows before the image tokens
  Size2 grid;                ///< image tokens
  Size2 input;               ///< px
};

/// Throws mpm::Error like convert(), for a converted model, and when no value of the file holds these tokens.
EncoderOutput encoderOutput(onnx::ModelProto& model, const FactsFile& facts, const std::filesystem::path& folder);

/// The JSON beside the model in `path`. Throws mpm::Error when it was written with another model: a program that
/// replaces both was killed between them.
FactsFile readFactsOf(const onnx::ModelProto& model, const std::filesystem::path& path);

/// Throws mpm::Error like convert(), when the model `onnx`, the bytes of an ONNX file without external data, could not
/// be converted with this JSON if both were written to `path`.
void requireReadable(const std::string& onnx, const Json& json, const std::filesystem::path& path);

/// Converts a file, with the JSON beside it. Throws mpm::Error with the name of the file.
Converted convertPath(const std::filesystem::path& path, const ConvertOptions& options);

/// The ONNX file of a plain ViT with this head, instead of its own, behind the last block: bytes of one file, without
/// external data. Its only output, "logits" {batch, classes, H, W}, is resized to the size of the network input. Throws
/// mpm::Error naming the file: when it is a converted model or not a plain ViT, and when no value of its graph is the
/// tokens behind the last block.
std::string withTokenHead(const std::string& onnx_path, const TokenHead& head);

/// Checks that withTokenHead() accepts the model. Returns the size of the network input, which the graph may leave
/// open.
Size2 requireTokenHeadFits(const std::string& onnx_path);

constexpr int kLongestSide = 1 << 14;  ///< px, of the input of a converted net

/// Adds to `info`, the metadata of a converted file, what the file's graph says. Throws mpm::Error when the two
/// contradict each other: readers of the outputs rely on it. Symbolic sides and the number of images may have any
/// value.
void addInfoOfGraph(const onnx::GraphProto& graph, ModelInfo& info);

/// Returns the result of `work`; errors name the file.
template <class Work>
auto naming(const std::filesystem::path& path, Work work) {
  std::string problem;
  try {
    return work();
  } catch (const Error& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "not enough memory";
  }
  // Errors about the JSON name the JSON file.
  const bool names_json = problem.starts_with("'" + factsFile(path.string()) + "'");
  throw Error(names_json ? problem : path.string() + ": " + problem);
}

}  // namespace mpm::onnx_graph
