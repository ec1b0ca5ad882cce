// SPDX-License-Identifier: Apache-2.0
#include "monitor/quantity.h"

#include <algorithm>

namespace mpm::monitor {
namespace {

using enum Quantity::Scope;
using Value = std::optional<double>;
using M = Measurement;

Value perSum(const M& m, int channel) {
  const double sum = m.mean[0] + m.mean[1] + m.mean[2];
  return m.pixels == 0 ? Value() : sum > 0 ? m.mean[channel] / sum : 0;
}
Value ofPixels(const M& m, double value) { return m.pixels > 0 ? Value(value) : Value(); }

Value merged(const M& m) {
  const std::vector<double>& counts = m.frame->token_counts;
  return counts.empty() || counts.front() <= 0 ? Value() : 100 * (1 - counts.back() / counts.front());
}
template <double PictureQuality::*part>
Value ofQuality(const M& m) {
  return m.frame->quality ? Value((*m.frame->quality).*part) : Value();
}
template <int bits>
Value flag(const M& m) {
  return m.frame->quality ? Value((m.frame->quality->flags & bits) != 0) : Value();
}

}  // namespace

std::vector<Quantity>& quantities() {
  static std::vector<Quantity> table = {
      {"tokens", "Tokens kept", "", 1, [](const M& m) { return m.tokens; }},
      {"merged", "Merged away", "%", 1, merged, kWhole},
      {"inference_ms", "Inference", "ms", 1, [](const M& m) { return Value(m.frame->inference_ms); }, kFrame},
      {"rows", "Rows computed", "%", 1,
       [](const M& m) { return m.frame->rows ? Value(100 * *m.frame->rows) : Value(); }, kFrame},
      {"agreement", "Agreement of key frames", "%", 2, [](const M& m) { return m.frame->agreement; }, kFrame},
      {"gcc", "Green share, gcc", "", 4, [](const M& m) { return perSum(m, 1); }},
      {"rcc", "Red share, rcc", "", 4, [](const M& m) { return perSum(m, 0); }},
      {"exg", "Excess green, ExG", "", 1,
       [](const M& m) { return ofPixels(m, 2 * m.mean[1] - m.mean[0] - m.mean[2]); }},
      {"brightness", "Brightness", "", 1,
       [](const M& m) { return ofPixels(m, 0.299 * m.mean[0] + 0.587 * m.mean[1] + 0.114 * m.mean[2]); }, kAlways},
      {"red", "Mean red", "", 1, [](const M& m) { return ofPixels(m, m.mean[0]); }},
      {"green", "Mean green", "", 1, [](const M& m) { return ofPixels(m, m.mean[1]); }},
      {"blue", "Mean blue", "", 1, [](const M& m) { return ofPixels(m, m.mean[2]); }},
      {"red_deviation", "Deviation of red", "", 1, [](const M& m) { return ofPixels(m, m.deviation[0]); }},
      {"green_deviation", "Deviation of green", "", 1, [](const M& m) { return ofPixels(m, m.deviation[1]); }},
      {"blue_deviation", "Deviation of blue", "", 1, [](const M& m) { return ofPixels(m, m.deviation[2]); }},
      {"pixels", "Pixels", "", 0, [](const M& m) { return Value(static_cast<double>(m.pixels)); }},
      {"dropped", "Frames dropped", "", 0, [](const M& m) { return Value(static_cast<double>(m.frame->dropped)); },
       kFrame},
      {"sharpness", "Sharpness", "", 1, ofQuality<&PictureQuality::sharpness>, kFrame},
      {"contrast", "Contrast", "", 1, ofQuality<&PictureQuality::contrast>, kFrame},
      {"saturated", "White pixels", "%", 1,
       [](const M& m) { return m.frame->quality ? Value(100 * m.frame->quality->saturated) : Value(); }, kFrame},
      {"flagged", "Left out", "", 0, flag<kDark | kOverexposed | kBlurred | kFogged>, kFrame},
      {"dark", "Dark", "", 0, flag<kDark>, kFrame},
      {"overexposed", "Overexposed", "", 0, flag<kOverexposed>, kFrame},
      {"blurred", "Blurred", "", 0, flag<kBlurred>, kFrame},
      {"fogged", "Covered or fogged", "", 0, flag<kFogged>, kFrame},
  };
  return table;
}

const Quantity* findQuantity(std::string_view key) {
  const auto& table = quantities();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Quantity& one) { return one.key == key; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace mpm::monitor
