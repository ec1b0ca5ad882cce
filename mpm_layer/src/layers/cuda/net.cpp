// SPDX-License-Identifier: Apache-2.0
#include "layers/cuda/net.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/cuda/launch_queue.h"
#include "layers/cuda_plugin.h"
#include "mpm/error.hpp"

namespace mpm::cuda {

Net::Net(int device) : stream(device), gemm(stream) {}

Net::Value& Net::find(const cv::Mat& blob, Kind kind, const char* what) {
  const auto found = values_.find(blob.data);
  if (found == values_.end() || found->second.kind != kind)
    throw Error(std::string("its input on the device is not ") + what + "; convert the model again");
  return found->second;
}

Net::Value& Net::make(const cv::Mat& blob, Kind kind) {
  Value& value = values_[blob.data];
  value.kind = kind;
  value.written = forward_;
  value.count = blob.total();
  return value;
}

void Net::begin(const DeviceOp::Call& call, unsigned& last) {
  if (last == forward_) {
    ++forward_;
    for (; !taken_.empty(); taken_.pop_back())
      std::swap(values_[taken_.back().first].floats, values_[taken_.back().second].floats);
    std::erase_if(values_, [this](const auto& entry) { return entry.second.written + 1 < forward_; });
  }
  last = forward_;
  // A larger batch keeps the device busy while the host launches. Where the image decides how many rows there are, the
  // next image rarely has as many.
  const bool same =
      std::none_of(call.inputs.begin(), call.inputs.end(), [this](const cv::Mat& input) { return varies(input); });
  stream.queue().repeat(stream, one_image_ && same);
}

void Net::release() {
  stream.queue().forget();
  values_.clear();
  taken_.clear();
  workspace = {};
  convolution_workspace = {};
  pair_merge = {};
  group_merge = {};
  key_bias = {};
  operands = {};
  state_floats_ = {};
}

bool Net::isOnHost(const cv::Mat& blob) const {
  const auto found = values_.find(blob.data);
  return found != values_.end() && found->second.kind == Kind::kOnHost;
}

bool Net::varies(const cv::Mat& state) const {
  const auto found = values_.find(state.data);
  return found != values_.end() && found->second.kind == Kind::kState && found->second.varies;
}

const float* Net::dense(const cv::Mat& blob) {
  if (isOnHost(blob)) {
    cuda::upload(stream, blob.data, newDense(blob), blob.total() * sizeof(float));
    stream.wait();  // OpenCV may reuse the memory of the blob
  }
  return find(blob, Kind::kDense, "a plain blob").floats.data();
}

void Net::placeRows(const cv::Mat& blob, const TokenState& state) {
  const std::vector<int>& live = state.liveRows();
  if (blob.dims != 3 || blob.size[0] != static_cast<int>(live.size()) ||
      blob.size[1] < *std::max_element(live.begin(), live.end()) + state.special())
    throw Error("its tokens are not those of its state; convert the model again");
  const int dim = blob.size[2];
  float* to = newRows(blob, state, dim);
  for (int b = 0; b < blob.size[0]; ++b) {
    const std::size_t floats = area(live[static_cast<std::size_t>(b)] + state.special(), dim);
    cuda::upload(stream, blob.ptr<float>(b), to, floats * sizeof(float));
    to += floats;
  }
  stream.wait();  // OpenCV may reuse the memory of the blob
}

const float* Net::rows(const cv::Mat& blob, const TokenState& state) {
  expectRowsOf(blob, state);
  return find(blob, Kind::kRows, "tokens").floats.data();
}

const float* Net::allRows(const cv::Mat& blob) {
  const auto found = values_.find(blob.data);
  if (found == values_.end() || found->second.kind != Kind::kRows) return dense(blob);
  if (found->second.count != blob.total())
    throw Error("its input on the device has rows that were merged; convert the model again");
  return found->second.floats.data();
}

void Net::expectRowsOf(const cv::Mat& blob, const TokenState& state) {
  if (isOnHost(blob)) placeRows(blob, state);
  const std::vector<int>&rows = find(blob, Kind::kRows, "tokens").rows, &live = state.liveRows();
  if (rows.size() != live.size()) {
    throw Error("its tokens have " + std::to_string(rows.size()) + " images and its state has " +
                std::to_string(live.size()) + "; convert the model again");
  }
  for (std::size_t b = 0; b < rows.size(); ++b) {
    if (rows[b] != live[b] + state.special()) {
      throw Error("image " + std::to_string(b) + " has " + std::to_string(rows[b]) + " rows of tokens and " +
                  std::to_string(live[b] + state.special()) + " in its state; convert the model again");
    }
  }
}

const TokenState& Net::state(const cv::Mat& blob, std::optional<int> special) {
  if (isOnHost(blob)) {
    const int columns = blob.size[blob.dims - 1];
    const bool lists_computed = blob.dims == 3;  // {1, 2, columns}
    newState(blob, true)
        .read(stream, {blob.ptr<float>(), blob.size[0], columns}, special.value_or(0),
              lists_computed ? blob.ptr<float>() + columns : nullptr);
  }
  Value& value = find(blob, Kind::kState, "the state of tokens");
  const int rows = special.value_or(value.state.special());
  if (rows == value.state.special()) return value.state;
  TokenState& shifted = value.shifted[rows];
  if (value.shifted_now.insert(rows).second) shifted.assign(stream, value.state, rows);
  return shifted;
}

float* Net::newDense(const cv::Mat& blob) {
  Value& value = make(blob, Kind::kDense);
  return value.floats.atLeast(stream, value.count);
}

unsigned char* Net::newLabels(const cv::Mat& blob) {
  Value& value = make(blob, Kind::kLabels);
  return value.labels.atLeast(stream, value.count);
}

float* Net::newRows(const cv::Mat& blob, const TokenState& state, int dim) {
  Value& value = make(blob, Kind::kRows);
  value.rows = state.liveRows();
  for (int& rows : value.rows) rows += state.special();
  value.count = area(state.rows().total, dim);
  return value.floats.atLeast(stream, value.count);
}

TokenState& Net::newState(const cv::Mat& blob, bool varies) {
  Value& value = make(blob, Kind::kState);
  value.varies = varies;
  value.shifted_now.clear();
  return value.state;
}

void* Net::kept(const LayerMemory& memory, std::size_t bytes) const {
  return memory.session->keepOnDevice(memory.layer, bytes, [&] {
    const auto zeros = std::make_shared<Memory>(stream, bytes);
    clear(stream, zeros->data(), bytes);
    return std::shared_ptr<void>(zeros, zeros->data());
  });
}

float* Net::successor(const cv::Mat& from, const cv::Mat& to, bool take) {
  if (isOnHost(from)) dense(from);
  const auto found = values_.find(from.data);
  if (found == values_.end() || (found->second.kind != Kind::kRows && found->second.kind != Kind::kDense))
    throw Error("its input on the device is not tokens; convert the model again");
  const Kind kind = found->second.kind;
  Value& value = found->second;  // stays valid when the map grows
  Value& next = make(to, kind);
  next.count = value.count;
  next.rows = value.rows;
  if (take) {
    std::swap(next.floats, value.floats);
    taken_.emplace_back(from.data, to.data);
    value.kind = Kind::kNothing;
  } else {
    copy(stream, value.floats.data(), next.floats.atLeast(stream, value.count), value.count * sizeof(float));
  }
  return next.floats.data();
}

void Net::upload(const cv::Mat& blob) { make(blob, Kind::kOnHost); }

void Net::download(const cv::Mat& blob) {
  const auto found = values_.find(blob.data);
  if (isOnHost(blob)) return;
  if (found == values_.end() || found->second.kind == Kind::kNothing)
    throw Error("one of its blobs has no value on the device; convert the model again");
  Value& value = found->second;
  auto* const host = reinterpret_cast<float*>(blob.data);
  if (value.kind == Kind::kDense) {
    cuda::download(stream, value.floats.data(), host, blob.total() * sizeof(float));
  } else if (value.kind == Kind::kLabels && blob.depth() == CV_8U) {
    cuda::download(stream, value.labels.data(), blob.data, value.count);
  } else if (value.kind == Kind::kLabels) {
    unsigned char* const labels = host_labels_.atLeast(stream, value.count);
    cuda::download(stream, value.labels.data(), labels, value.count);
    stream.wait();
    std::copy_n(labels, value.count, host);
  } else if (value.kind == Kind::kRows) {
    const int total = std::accumulate(value.rows.begin(), value.rows.end(), 0);
    const std::size_t dim = value.count / static_cast<std::size_t>(std::max(total, 1));
    const std::size_t capacity = blob.total() / value.rows.size();
    const float* from = value.floats.data();
    for (std::size_t b = 0; b < value.rows.size(); ++b) {
      const std::size_t count = static_cast<std::size_t>(value.rows[b]) * dim;
      cuda::download(stream, from, host + b * capacity, count * sizeof(float));
      from += count;
    }
  } else {
    const int patches = value.state.patches(), size = 1 + 2 * patches;
    const std::size_t count = area(value.state.rows().batch, size);
    float* const floats = state_floats_.atLeast(stream, count);
    writeState(stream, value.state, {floats, floats + 1, floats + 1 + patches, size, size, size});
    cuda::download(stream, floats, host, count * sizeof(float));
    stream.wait();  // all states use one buffer
    if (blob.dims == 3) value.state.writeComputed(host + size);
  }
}

namespace {

std::vector<CudaDevice> cudaDevices() {
  std::vector<CudaDevice> found;
  for (const DeviceInfo& device : devices())
    found.push_back({device.index, device.name, device.memory_bytes, device.major, device.minor});
  return found;
}

std::unique_ptr<DeviceNet> makeNet(int device) { return std::make_unique<Net>(device); }

}  // namespace
}  // namespace mpm::cuda

extern "C" MPM_API const mpm::CudaPlugin* mpm_cuda_plugin() {
  static constexpr mpm::CudaPlugin plugin = {mpm::kCudaPluginVersion, mpm::cuda::cudaDevices, mpm::cuda::makeNet};
  return &plugin;
}
