// SPDX-License-Identifier: Apache-2.0
#include "net/segments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

#include "base/segment_limits.h"
#include "kernels/linear.h"

namespace mpm {
namespace {

// A query and its best class.
struct Candidate {
  int query = 0, label = 0;
  float score = 0;
};

double minScore(const EstimatorOptions& options) {
  return options.min_score.value_or(defaultMinScore(HeadKind::kMaskQueries));
}

// Shares of 1, {count}.
std::vector<double> softmax(const float* logits, int count) {
  const double largest = static_cast<double>(*std::max_element(logits, logits + count));
  std::vector<double> shares(count);
  double total = 0;
  for (std::size_t c = 0; c < shares.size(); ++c)
    total += shares[c] = std::exp(static_cast<double>(logits[c]) - largest);
  for (double& share : shares) share /= total;
  return shares;
}

// The queries whose best class passes `wanted`. The softmax is over the classes and "no object", the last; with
// `no_object` that can be the best one, too.
template <class Wanted>
std::vector<Candidate> candidatesOf(const MaskQueries& queries, bool no_object, Wanted wanted) {
  const int classes = queries.classes.cols - 1;
  if (queries.classes.rows > std::numeric_limits<std::uint16_t>::max())
    throw Error("the model has " + std::to_string(queries.classes.rows) + " queries: at most 65535 fit into an id map");
  std::vector<Candidate> found;
  for (int q = 0; q < queries.classes.rows; ++q) {
    const std::vector<double> shares = softmax(queries.classes.row(q), queries.classes.cols);
    const auto best = std::max_element(shares.begin(), shares.end() - (no_object ? 0 : 1));
    const Candidate candidate{q, static_cast<int>(best - shares.begin()), static_cast<float>(*best)};
    if (candidate.label < classes && wanted(candidate)) found.push_back(candidate);
  }
  return found;
}

// Row y of the mask of a query, {columns.outputs()}. `line` {grid.width} is scratch.
void maskRow(const ResizedMasks& masks, int query, int y, std::vector<float>& line, float* logits) {
  const auto& [queries, rows, columns] = masks;
  const int width = queries.grid.width;
  line.assign(width, 0.0f);
  for (int t = 0; t < rows.taps; ++t) {
    const float weight = rows.weightsOf(y)[t];
    const float* const from = queries.masks.row(query) + static_cast<std::ptrdiff_t>(rows.first[y] + t) * width;
    for (int x = 0; x < width; ++x) line[x] += weight * from[x];
  }
  for (int x = 0; x < columns.outputs(); ++x) {
    const float* const weight = columns.weightsOf(x);
    logits[x] = 0;
    for (int t = 0; t < columns.taps; ++t) logits[x] += weight[t] * line[columns.first[x] + t];
  }
}

float sigmoid(float logit) { return 1 / (1 + std::exp(-logit)); }

// Calls work(y, logits) for each row of each candidate's mask, rows in parallel, candidates in order.
template <class Work>
void forRows(const ResizedMasks& masks, const std::vector<Candidate>& candidates, const Parallel& parallel, Work work) {
  parallel.run(masks.rows.outputs(), [&](int y) {
    thread_local std::vector<float> line, logits;
    logits.resize(masks.columns.outputs());
    work(y, [&](std::size_t k) -> const float* {
      maskRow(masks, candidates[k].query, y, line, logits.data());
      return logits.data();
    });
  });
}

void countAreas(const cv::Mat& ids, std::vector<Segment>& segments) {
  for (int y = 0; y < ids.rows; ++y) {
    for (const auto* id = ids.ptr<std::uint16_t>(y); id < ids.ptr<std::uint16_t>(y) + ids.cols; ++id)
      if (*id > 0) ++segments[*id - 1].area;
  }
}

}  // namespace

std::vector<Segment> panopticSegments(const ResizedMasks& masks, const EstimatorOptions& options,
                                      const std::vector<bool>& things, const Parallel& parallel, cv::Mat& ids) {
  const std::vector<Candidate> candidates = candidatesOf(
      masks.queries, true, [&](const Candidate& one) { return static_cast<double>(one.score) > minScore(options); });
  // Pixels of each candidate: where it has the largest score, where its mask is, and both.
  struct Pixels {
    std::int64_t won = 0, masked = 0, both = 0;
  };
  const std::size_t count = candidates.size();
  std::vector<Pixels> pixels(count);
  std::mutex mutex;
  forRows(masks, candidates, parallel, [&](int y, const auto& logitsOf) {
    thread_local std::vector<float> best;
    thread_local std::vector<std::uint16_t> winner;
    std::vector<Pixels> of_row(count);
    best.assign(ids.cols, -1.0f);
    winner.assign(ids.cols, 0);
    auto* const kept = ids.ptr<std::uint16_t>(y);
    std::fill_n(kept, ids.cols, std::uint16_t{0});
    for (std::size_t k = 0; k < count; ++k) {
      const float* const logits = logitsOf(k);
      for (int x = 0; x < ids.cols; ++x) {
        const float present = sigmoid(logits[x]), score = candidates[k].score * present;
        const bool masked = present >= 0.5f;
        of_row[k].masked += masked;
        if (!(score > best[x])) continue;
        best[x] = score;
        winner[x] = static_cast<std::uint16_t>(k);
        kept[x] = static_cast<std::uint16_t>(masked ? k + 1 : 0);
      }
    }
    for (int x = 0; count > 0 && x < ids.cols; ++x) {
      ++of_row[winner[x]].won;
      of_row[winner[x]].both += kept[x] > 0;
    }
    const std::lock_guard lock(mutex);
    for (std::size_t k = 0; k < count; ++k) {
      pixels[k].won += of_row[k].won;
      pixels[k].masked += of_row[k].masked;
      pixels[k].both += of_row[k].both;
    }
  });

  std::vector<Segment> segments;
  std::vector<std::uint16_t> id_of(count + 1, 0);  // of candidate k at k + 1
  std::map<int, int> id_of_stuff;                  // by class
  for (std::size_t k = 0; k < count; ++k) {
    const auto& [won, masked, both] = pixels[k];
    if (both == 0 || !(static_cast<double>(won) > options.min_overlap * static_cast<double>(masked))) continue;
    const auto [label, score] = std::pair(candidates[k].label, candidates[k].score);
    int id = static_cast<int>(segments.size()) + 1;
    if (!things[label]) id = id_of_stuff.emplace(label, id).first->second;
    id_of[k + 1] = static_cast<std::uint16_t>(id);
    if (id > static_cast<int>(segments.size())) segments.push_back({id, label, static_cast<double>(score), 0});
  }
  for (int y = 0; y < ids.rows; ++y)
    for (int x = 0; x < ids.cols; ++x) ids.at<std::uint16_t>(y, x) = id_of[ids.at<std::uint16_t>(y, x)];
  countAreas(ids, segments);
  return segments;
}

std::vector<Segment> instanceSegments(const ResizedMasks& masks, const EstimatorOptions& options,
                                      const std::vector<bool>& things, const Parallel& parallel, cv::Mat& ids) {
  // The mean of a mask is at most 1, so a class below the limit never passes it.
  const auto wanted = [&](const Candidate& one) {
    return things[one.label] && static_cast<double>(one.score) >= minScore(options);
  };
  std::vector<Candidate> candidates = candidatesOf(masks.queries, false, wanted);
  std::vector<double> scores(candidates.size());
  parallel.run(static_cast<int>(candidates.size()), [&](int k) {  // sums in one order, whatever the threads
    std::vector<float> line, logits(static_cast<std::size_t>(ids.cols));
    double sum = 0;
    std::int64_t masked = 0;
    for (int y = 0; y < ids.rows; ++y) {
      maskRow(masks, candidates[k].query, y, line, logits.data());
      for (const float logit : logits) {
        if (logit > 0) {
          sum += static_cast<double>(sigmoid(logit));
          ++masked;
        }
      }
    }
    const double mean = masked > 0 ? sum / static_cast<double>(masked) : 0;
    scores[k] = static_cast<double>(candidates[k].score) * mean;
  });
  std::vector<Segment> segments;
  std::vector<Candidate> kept;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (scores[k] <= 0 || scores[k] < minScore(options)) continue;
    kept.push_back(candidates[k]);
    segments.push_back({static_cast<int>(kept.size()), candidates[k].label, scores[k], 0});
  }
  forRows(masks, kept, parallel, [&](int y, const auto& logitsOf) {
    auto* const id = ids.ptr<std::uint16_t>(y);
    std::fill_n(id, ids.cols, std::uint16_t{0});
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const float* const logits = logitsOf(k);
      for (int x = 0; x < ids.cols; ++x)
        if (logits[x] > 0) id[x] = static_cast<std::uint16_t>(k + 1);
    }
  });
  countAreas(ids, segments);
  return segments;
}

MaskQueries maskQueries(const ImageNet& net) {
  const bool masks_first = net.answer(0).dims == 4;
  const cv::Mat &masks = net.answer(masks_first ? 0 : 1), &classes = net.answer(masks_first ? 1 : 0);
  if (masks.dims != 4 || masks.depth() != CV_32F)
    throw Error("the model has no output of masks and one of classes: convert the original model again");
  const int queries = masks.size[1], count = net.info().classes + 1;
  net.requireSize(masks_first ? 1 : 0, static_cast<std::size_t>(queries) * count);
  return {{masks.ptr<float>(), queries, masks.size[2] * masks.size[3]},
          {classes.ptr<float>(), queries, count},
          {masks.size[2], masks.size[3]}};
}

void maskQueryScores(MatrixView<const float> masks, MatrixView<const float> classes, const Parallel& parallel,
                     std::vector<float>& scores) {
  const int queries = masks.rows, pixels = masks.cols, count = classes.cols - 1;
  std::vector<float> shares(static_cast<std::size_t>(count) * queries);  // {count, queries}
  for (int q = 0; q < queries; ++q) {
    const std::vector<double> of_query = softmax(classes.row(q), classes.cols);
    for (int c = 0; c < count; ++c) shares[static_cast<std::size_t>(c) * queries + q] = static_cast<float>(of_query[c]);
  }
  const PackedLinear sum(MatrixView<const float>(shares.data(), count, queries), nullptr);
  scores.resize(static_cast<std::size_t>(pixels) * count);
  runPieces(parallel, pixels, PackedLinear::kMaxRows, [&](int begin, int end) {
    const int rows = end - begin;
    std::vector<float> present(static_cast<std::size_t>(rows) * queries);
    for (int q = 0; q < queries; ++q) {
      for (int p = 0; p < rows; ++p)
        present[static_cast<std::size_t>(p) * queries + q] = 1 / (1 + std::exp(-masks.row(q)[begin + p]));
    }
    sum.run({present.data(), rows, queries}, {scores.data() + static_cast<std::size_t>(begin) * count, rows, count});
  });
}

SegmentMaker::SegmentMaker(ImageNet& net, const EstimatorOptions& options, Task task)
    : options_(options), net_(net), task_(task), things_(static_cast<std::size_t>(net.info().classes), true) {
  if (options.labels) net.requireLabelsFit();
  const std::vector<ClassInfo>& classes = net.info().facts.classes;
  std::transform(classes.begin(), classes.end(), things_.begin(), [](const ClassInfo& one) { return one.thing; });
}

void SegmentMaker::run(const cv::Mat& image, Estimate& result) {
  net_.run(image, result);
  StopWatch watch;
  for (std::size_t i = 0; i < net_.answers(); ++i) net_.requireFinite(i, net_.answerName(i));
  const MaskQueries queries = maskQueries(net_);
  if (image_size_ != image.size()) {
    rows_ = throughInput(queries.grid.height, net_.info().input.height, image.rows);
    columns_ = throughInput(queries.grid.width, net_.info().input.width, image.cols);
    image_size_ = image.size();
  }
  result.ids.create(image.size(), CV_16U);
  const auto segments = task_ == Task::kPanoptic ? panopticSegments : instanceSegments;
  result.segments = segments({queries, rows_, columns_}, options_, things_, net_.parallel(), result.ids);
  if (options_.labels) {
    maskQueryScores(queries.masks, queries.classes, net_.parallel(), scores_);
    result.labels.create(image.size(), CV_8U);
    resizeArgmax<unsigned char>({scores_.data(), queries.grid.height * queries.grid.width, net_.info().classes}, rows_,
                                columns_, {result.labels.data, image.rows, image.cols}, net_.parallel());
  }
  result.ms.postprocess += watch.lap();
}

}  // namespace mpm
