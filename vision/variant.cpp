// SPDX-License-Identifier: Apache-2.0
#include "vision/variant.h"

#include <utility>

namespace mpm::vision {
namespace {

const std::string kProportionalMark = " proportional";

}  // namespace

ConvertOptions Variant::options(ConvertOptions base) const {
  base.reduce = reduction;
  base.schedule.reset();
  base.attention = attention;
  return base;
}

Variant mpmBefore(const Schedule& blocks) {
  return blocks.empty() ? kFullModel : Variant{{.method = ReductionMethod::kMpm, .blocks = blocks}};
}

Variant variantOf(const ModelInfo& model) {
  if (model.schedule.empty()) return kFullModel;
  if (!model.reduction.isSchedule()) return {model.reduction};
  return {{.method = ReductionMethod::kMpm, .blocks = model.schedule}, model.attention};
}

std::string toString(const Variant& variant) {
  const bool proportional =
      variant.reduction.method == ReductionMethod::kMpm && variant.attention == Attention::kProportional;
  return toString(variant.reduction) + (proportional ? kProportionalMark : "");
}

Variant parseVariant(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789,") == std::string::npos)
    return mpmBefore(parseSchedule(text));
  const bool proportional = text.ends_with(kProportionalMark) && text.starts_with("mpm");
  const std::size_t length = text.size() - (proportional ? kProportionalMark.size() : 0);
  return {parseReduction(text.substr(0, length)), proportional ? Attention::kProportional : Attention::kPlain};
}

}  // namespace mpm::vision
