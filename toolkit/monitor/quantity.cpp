// SPDX-License-Identifier: Apache-2.0
#include "monitor/quantity.h"

#include <algorithm>
#include <bit>

// The app translates the labels: lupdate finds them by this name.
#define QT_TRANSLATE_NOOP(context, text) text

namespace mpm::monitor {
namespace {

// The last two fields of a row: whether it is measured of regions, and whether sums have flagged pictures.
constexpr bool kOfWhole = false, kOfRegions = true, kWithFlagged = true;

using Value = std::optional<double>;
using M = RegionInput;

Value perSum(const M& m, int channel) {
  const double sum = m.mean[0] + m.mean[1] + m.mean[2];
  return sum > 0 ? Value(m.mean[channel] / sum) : Value();  // black has no share of a colour, nor has no pixel
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
      {"tokens", QT_TRANSLATE_NOOP("quantities", "Tokens kept"), "", 1, [](const M& m) { return m.tokens; }},
      {"merged", QT_TRANSLATE_NOOP("quantities", "Merged away"), "%", 1, merged, kOfWhole},
      {"inference_ms", QT_TRANSLATE_NOOP("quantities", "Inference"), "ms", 1,
       [](const M& m) { return Value(m.frame->inference_ms); }, kOfWhole, kWithFlagged},
      {"rows", QT_TRANSLATE_NOOP("quantities", "Rows computed"), "%", 1,
       [](const M& m) { return m.frame->rows ? Value(100 * *m.frame->rows) : Value(); }, kOfWhole, kWithFlagged},
      {"agreement", QT_TRANSLATE_NOOP("quantities", "Agreement of key frames"), "%", 2,
       [](const M& m) { return m.frame->agreement; }, kOfWhole, kWithFlagged},
      {"gcc", QT_TRANSLATE_NOOP("quantities", "Green share, gcc"), "", 4, [](const M& m) { return perSum(m, 1); }},
      {"rcc", QT_TRANSLATE_NOOP("quantities", "Red share, rcc"), "", 4, [](const M& m) { return perSum(m, 0); }},
      {"exg", QT_TRANSLATE_NOOP("quantities", "Excess green, ExG"), "", 1,
       [](const M& m) { return ofPixels(m, 2 * m.mean[1] - m.mean[0] - m.mean[2]); }},
      {"brightness", QT_TRANSLATE_NOOP("quantities", "Brightness"), "", 1,
       [](const M& m) { return ofPixels(m, 0.299 * m.mean[0] + 0.587 * m.mean[1] + 0.114 * m.mean[2]); }, kOfRegions,
       kWithFlagged},
      {"red", QT_TRANSLATE_NOOP("quantities", "Mean red"), "", 1, [](const M& m) { return ofPixels(m, m.mean[0]); }},
      {"green", QT_TRANSLATE_NOOP("quantities", "Mean green"), "", 1,
       [](const M& m) { return ofPixels(m, m.mean[1]); }},
      {"blue", QT_TRANSLATE_NOOP("quantities", "Mean blue"), "", 1, [](const M& m) { return ofPixels(m, m.mean[2]); }},
      {"red_deviation", QT_TRANSLATE_NOOP("quantities", "Deviation of red"), "", 1,
       [](const M& m) { return ofPixels(m, m.deviation[0]); }},
      {"green_deviation", QT_TRANSLATE_NOOP("quantities", "Deviation of green"), "", 1,
       [](const M& m) { return ofPixels(m, m.deviation[1]); }},
      {"blue_deviation", QT_TRANSLATE_NOOP("quantities", "Deviation of blue"), "", 1,
       [](const M& m) { return ofPixels(m, m.deviation[2]); }},
      {"pixels", QT_TRANSLATE_NOOP("quantities", "Pixels"), "", 0,
       [](const M& m) { return Value(static_cast<double>(m.pixels)); }},
      {"dropped", QT_TRANSLATE_NOOP("quantities", "Frames dropped"), "", 0,
       [](const M& m) { return Value(static_cast<double>(m.frame->dropped)); }, kOfWhole, kWithFlagged},
      {"sharpness", QT_TRANSLATE_NOOP("quantities", "Sharpness"), "", 1, ofQuality<&PictureQuality::sharpness>,
       kOfWhole, kWithFlagged},
      {"contrast", QT_TRANSLATE_NOOP("quantities", "Contrast"), "", 1, ofQuality<&PictureQuality::contrast>, kOfWhole,
       kWithFlagged},
      {"saturated", QT_TRANSLATE_NOOP("quantities", "White pixels"), "%", 1,
       [](const M& m) { return m.frame->quality ? Value(100 * m.frame->quality->saturated) : Value(); }, kOfWhole,
       kWithFlagged},
      {"flagged", QT_TRANSLATE_NOOP("quantities", "Left out"), "", 0, flag<kDark | kOverexposed | kBlurred | kFogged>,
       kOfWhole, kWithFlagged},
      {"dark", QT_TRANSLATE_NOOP("quantities", "Dark"), "", 0, flag<kDark>, kOfWhole, kWithFlagged},
      {"overexposed", QT_TRANSLATE_NOOP("quantities", "Overexposed"), "", 0, flag<kOverexposed>, kOfWhole,
       kWithFlagged},
      {"blurred", QT_TRANSLATE_NOOP("quantities", "Blurred"), "", 0, flag<kBlurred>, kOfWhole, kWithFlagged},
      {"fogged", QT_TRANSLATE_NOOP("quantities", "Covered or fogged"), "", 0, flag<kFogged>, kOfWhole, kWithFlagged},
      {"unchanged", QT_TRANSLATE_NOOP("quantities", "Unchanged"), "", 0,
       [](const M& m) { return m.frame->unchanged ? Value(*m.frame->unchanged) : Value(); }, kOfWhole, kWithFlagged},
  };
  return table;
}

std::string toText(QualityFlag flag) {
  std::string text = findQuantity(kQualityFlags.at(static_cast<std::size_t>(std::countr_zero(unsigned{flag}))))->label;
  text.front() = static_cast<char>(text.front() - 'A' + 'a');
  return text;
}

const Quantity* findQuantity(std::string_view key) {
  const auto& table = quantities();
  const auto found = std::ranges::find_if(table, [&](const Quantity& one) { return one.key == key; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace mpm::monitor
