// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/variant.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/quantiles.h"
#include "evaluation/machine.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

template <class Work>
void Variant::tried(Work work) {
  try {
    work();
  } catch (const std::exception& error) {
    alive = false;
    labels = cv::Mat();
    note = messageOf(error);
  }
}

Variant::Variant(const BenchArguments& arguments, const VariantOptions::Variant& variant)
    : reuse(variant.reuse),
      reduction(*variant.convert.reduce),
      precision(toString(*variant.convert.precision)),
      with_head_(arguments.head),
      convert_(variant.convert) {
  const std::string& device = arguments.options.device;
  name = "mpm " + toString(reduction) + " " + precision + (device == "cpu" ? "" : " " + device) +
         (reuse.on ? " reuse " + toString(reuse) : "");
  tried([&] { load(arguments); });
}

void Variant::run(const Round& round, bool measured) {
  labels = cv::Mat();
  if (alive) tried([&] { estimator_ ? runFrame(round, measured) : runNet(round.images, measured); });
}

// The system may leave all threads of a process on one core for seconds, so one measurement says little: the best of as
// many as there are rounds, and of all variants.
void Variant::measurePeak() {
  if (alive && !interrupted())
    peak_gflops = std::max(peak_gflops, evaluation::gemmPeak(*convert_.precision, 0.1) / 1e9);
}

void Variant::unload() {
  loaded_ = {};
  estimator_.reset();
}

void Variant::load(const BenchArguments& arguments) {
  EstimatorOptions options = arguments.options;
  options.reduce = convert_.reduce;
  options.precision = convert_.precision;
  options.reuse = reuse;
  flops_.emplace(convertModel(arguments.model, convert_).bytes);
  if (arguments.reuses()) {
    estimator_ = std::make_unique<Estimator>(arguments.model, options);
    return;
  }
  ReadOptions read = options.read();
  read.outputs = {"token_counts"};
  const ModelInfo info = readModelInfo(arguments.model, convert_);
  read.outputs.insert(read.outputs.end(), info.outputs.begin(), info.outputs.end());
  read.measure_layers = with_head_;
  outputs_.assign(read.outputs.begin(), read.outputs.end());
  loaded_ = readNet(arguments.model, read);
}

void Variant::runNet(const cv::Mat& images, bool measured) {
  const auto start = std::chrono::steady_clock::now();
  loaded_.net.setInput(images);
  loaded_.net.forward(blobs_, outputs_);
  const double taken = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!measured) return;
  const Json times = evaluation::toJson(forwardTimes(loaded_.net, taken));
  if (with_head_) addHead(headTimes(loaded_.net));
  tokens = Json::array();
  double flop = 0;
  const cv::Mat& counts = blobs_[0];
  for (int b = 0; b < counts.size[0]; ++b) {
    const float* row = counts.ptr<float>() + static_cast<std::ptrdiff_t>(b) * counts.size[1];
    const std::vector<double> of_image(row, row + counts.size[1]);
    flop += flops_->count(of_image);
    tokens.push_back(of_image);
  }
  gflop.add(flop / 1e9);
  keep(taken, times);
}

void Variant::runFrame(const Round& round, bool measured) {
  const Estimate estimate = estimator_->estimate(round.picture, round.seconds);
  labels = estimate.labels;
  if (!measured) return;
  tokens = {estimate.tokens};
  if (estimate.reuse)
    rows.add(estimate.reuse->rows);
  else
    gflop.add(flops_->countOf(estimate) / 1e9);
  keep(estimate.ms.total, evaluation::toJson(estimate.ms));
}

void Variant::keep(double taken, const Json& times) {
  ms.push_back(taken);
  for (const auto& [stage, of_stage] : times.items()) stages[stage].push_back(of_stage);
}

void Variant::addHead(const std::vector<OperatorTime>& times) {
  for (const OperatorTime& time : times) {
    const auto same = std::ranges::find(head, time.op, &OperatorTime::op);
    if (same != head.end())
      same->ms += time.ms;
    else
      head.push_back(time);
  }
}

}  // namespace mpm::cli
