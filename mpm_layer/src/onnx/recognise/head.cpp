// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "onnx/recognise/trunk.h"

namespace mpm::onnx_graph {
namespace {

/// True when `cells` is {1, C, h, w} with class c of patch (y, x) in its place, patches from row `first` of the term
/// on.
bool isGrid(const Cells& cells, const Trunk& trunk, std::int64_t cols, std::int64_t first) {
  const Shape expected{1, cols, trunk.embedding.grid_h, trunk.embedding.grid_w};
  if (cells.shape != expected || !cells.unchanged() || cells.scale != 1) return false;
  const std::int64_t patches = trunk.embedding.patches();
  for (std::int64_t c = 0; c < cols; ++c) {
    for (std::int64_t i = 0; i < patches; ++i)
      if (cells.id(c * patches + i) != (first + i) * cols + c) return false;
  }
  return true;
}

class HeadMatcher {
 public:
  HeadMatcher(const std::vector<Term>& terms, const Trunk& trunk) : terms_(terms), trunk_(trunk) {}

  std::optional<SegmentationHead> linear(int scores) const {
    const Term& term = at(scores);
    if (term.rows != special_ + patches_ || !isLinear(scores)) return std::nullopt;
    SegmentationHead head;
    head.classes = term.cols;
    head.scores = scores;
    return head;
  }

  /// LayerNorm over the classes of unit patches times unit class embeddings, behind a small transformer over both.
  std::optional<SegmentationHead> mask(int scores) const {
    const Term& mask_norm = at(scores);
    if (mask_norm.kind != TermKind::kNorm || mask_norm.rms || mask_norm.rows != patches_) return std::nullopt;
    const Term& product = at(mask_norm.inputs[0]);
    if (product.kind != TermKind::kProduct || product.scale != 1) return std::nullopt;
    SegmentationHead head;
    head.mask = true;
    head.classes = mask_norm.cols;
    head.mask_norm = normPart(mask_norm);
    auto patch = unitProjection(product.inputs[0], head.classes, patches_);
    auto classes = unitProjection(product.inputs[1], 0, head.classes);
    if (!patch || !classes) return std::nullopt;
    const int base = at(patch->layer).inputs[0];
    if (base != at(classes->layer).inputs[0] || at(base).kind != TermKind::kNorm) return std::nullopt;
    head.proj_patch = std::move(*patch);
    head.proj_classes = std::move(*classes);
    head.norm = normPart(at(base));
    return decoder(std::move(head), at(base).inputs[0]);
  }

 private:
  const Term& at(int term) const { return terms_[term]; }

  /// A linear layer over isEncoded(), or columns picked from one.
  bool isLinear(int term) const {
    const auto part = linearPart(terms_, term);
    return part && isEncoded(at(part->layer).inputs[0]);
  }

  /// The last block's output, or what norms and activated linear layers make of it, row by row.
  bool isEncoded(int term) const {
    if (term == trunk_.chain.streams.back()) return true;
    if (at(term).kind == TermKind::kActivation) return isLinear(at(term).inputs[0]);
    return at(term).kind == TermKind::kNorm && isEncoded(at(term).inputs[0]);
  }

  /// Rows [first, first + count) of L2Norm of a linear layer without bias.
  std::optional<LinearPart> unitProjection(int index, std::int64_t first, std::int64_t count) const {
    const Term& rows = at(index);
    if (rows.kind != TermKind::kArrange || rows.rows != count || !isCounting(rows.row_of, first) ||
        !isCounting(rows.col_of) || rows.scale != 1 || !rows.offset.empty())
      return std::nullopt;
    const Term& unit = at(rows.inputs[0]);
    if (unit.kind != TermKind::kL2Norm || unit.cols != rows.cols) return std::nullopt;
    const Term& linear = at(unit.inputs[0]);
    if (linear.kind != TermKind::kLinear || !isZero(*linear.bias.floats)) return std::nullopt;
    return linearPart(terms_, unit.inputs[0]);
  }

  /// From the joined class embeddings to `end`, the stream behind the decoder's blocks.
  std::optional<SegmentationHead> decoder(SegmentationHead head, int end) const {
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const Term& start = terms_[i];
      if (start.kind != TermKind::kArrange || start.rows != patches_ + head.classes || start.scale != 1 ||
          !isCounting(start.col_of) || start.offset.empty() || at(start.inputs[0]).rows != special_ + patches_ ||
          start.cols != at(start.inputs[0]).cols)
        continue;
      const auto split = start.offset.begin() + head.classes * start.cols;
      if (!countsBehind(start.row_of, head.classes, special_) || !isZero({split, start.offset.end()})) continue;
      BlockChain chain = followBlocks(terms_, static_cast<int>(i));
      const auto positioned = [](const Block& block) { return block.rotation || block.fixesPlaces(); };
      if (chain.streams.back() != end || !chain.interactions.empty() || !chain.late.empty() ||
          !chain.positions.empty() || std::ranges::any_of(chain.blocks, positioned))
        continue;
      head.tokens = start.inputs[0];
      head.class_embeddings.assign(start.offset.begin(), split);
      head.blocks = std::move(chain.blocks);
      return head;
    }
    return std::nullopt;
  }

  const std::vector<Term>& terms_;
  const Trunk& trunk_;
  std::int64_t special_ = trunk_.embedding.special, patches_ = trunk_.embedding.patches();
};

}  // namespace

std::optional<SegmentationHead> recogniseHead(const Interpretation& found, const Trunk& trunk, int output) {
  const ClassMap* map = found.as<ClassMap>(output);
  const Cells* cells = map ? &map->cells : found.as<Cells>(output);
  if (!cells) return std::nullopt;
  const HeadMatcher match(found.terms, trunk);
  const std::int64_t cols = found.terms[cells->term].cols;
  if (isGrid(*cells, trunk, cols, trunk.embedding.special)) {
    if (auto head = match.linear(cells->term)) return head;
  }
  return isGrid(*cells, trunk, cols, 0) ? match.mask(cells->term) : std::nullopt;
}

}  // namespace mpm::onnx_graph
