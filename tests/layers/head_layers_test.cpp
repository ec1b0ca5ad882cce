// SPDX-License-Identifier: Apache-2.0
// Each operator of a head on random shapes, against ONNX's definition in loops over indices.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "layers/mpm_layer.h"
#include "mpm/read_net.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

using Index = std::vector<int>;

class HeadLayers : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }

  int below(int count) { return random_.uniform(0, count); }
  Shape anyShape(int rank) {
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push_back(1 + below(5));
    return shape;
  }
  cv::Mat values(const Shape& shape, float low = -2, float high = 2) {
    cv::Mat result(shape, CV_32F);
    random_.fill(result, cv::RNG::UNIFORM, low, high);
    return result;
  }

  /// The outputs. Operands whose position is in `constants` are given as constants.
  static std::vector<cv::Mat> runAll(const std::string& type, cv::dnn::LayerParams params,
                                     const std::vector<cv::Mat>& operands, const std::vector<int>& constants = {}) {
    params.name = "one/layer";
    params.type = "ai.mpm." + type;
    std::vector<cv::Mat> inputs;
    std::vector<opencv::MatShape> shapes, outputs, internals;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool constant = std::find(constants.begin(), constants.end(), static_cast<int>(i)) != constants.end();
      (constant ? params.blobs : inputs).push_back(operands[i]);
    }
    if (!constants.empty())
      params.set("constants", cv::dnn::DictValue::arrayInt(constants.data(), static_cast<int>(constants.size())));
    const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
    for (const cv::Mat& input : inputs) shapes.push_back(opencv::makeShape({input.size.p, input.size.p + input.dims}));
    layer->getMemoryShapes(shapes, 1, outputs, internals);
    std::vector<cv::Mat> results, scratch;
    for (const opencv::MatShape& shape : outputs) results.emplace_back(Shape(shape.begin(), shape.end()), CV_32F);
    layer->forward(inputs, results, scratch);
    return results;
  }
  static cv::Mat run(const std::string& type, const cv::dnn::LayerParams& params, const std::vector<cv::Mat>& operands,
                     const std::vector<int>& constants = {}) {
    return runAll(type, params, operands, constants)[0];
  }

  /// Calls `visit` for every index of the shape.
  static void forEach(const Shape& shape, const std::function<void(const Index&)>& visit) {
    Index index(shape.size(), 0);
    for (std::size_t left = 1; left > 0;) {
      visit(index);
      for (left = shape.size(); left > 0 && ++index[left - 1] == shape[left - 1]; --left) index[left - 1] = 0;
    }
  }
  static Shape shapeOf(const cv::Mat& blob) { return {blob.size.p, blob.size.p + blob.dims}; }

  /// Element of a tensor that is broadcast: its last axes, 0 where its side is 1.
  static double at(const cv::Mat& blob, Index index) {
    index.erase(index.begin(), index.end() - blob.dims);
    std::size_t offset = 0;
    for (int axis = 0; axis < blob.dims; ++axis)
      offset = offset * static_cast<std::size_t>(blob.size[axis]) +
               static_cast<std::size_t>(blob.size[axis] == 1 ? 0 : index[static_cast<std::size_t>(axis)]);
    return static_cast<double>(blob.ptr<float>()[offset]);
  }
  static void expectEach(const cv::Mat& found, const Shape& shape, const std::function<double(const Index&)>& expected,
                         double tolerance = 1e-5) {
    ASSERT_EQ(shapeOf(found), shape);
    forEach(shape, [&](const Index& index) {
      const double value = expected(index);
      ASSERT_NEAR(at(found, index), value, tolerance * std::max(1.0, std::abs(value))) << shapeText(index);
    });
  }
  static cv::dnn::LayerParams function(const std::string& name) {
    cv::dnn::LayerParams params;
    params.set("function", name);
    return params;
  }

  cv::RNG random_{7};
};

using Function = std::function<double(double, double, double)>;

const std::map<std::string, std::pair<int, Function>> kElementwise = {
    {"Abs", {1, [](double a, double, double) { return std::abs(a); }}},
    {"Ceil", {1, [](double a, double, double) { return std::ceil(a); }}},
    {"Cos", {1, [](double a, double, double) { return std::cos(a); }}},
    {"Erf", {1, [](double a, double, double) { return std::erf(a); }}},
    {"Exp", {1, [](double a, double, double) { return std::exp(a); }}},
    {"Floor", {1, [](double a, double, double) { return std::floor(a); }}},
    {"HardSwish", {1, [](double a, double, double) { return a * std::min(std::max(a / 6 + 0.5, 0.0), 1.0); }}},
    {"IsNaN", {1, [](double, double, double) { return 0.0; }}},
    {"Log", {1, [](double a, double, double) { return std::log(a); }}},
    {"Mish", {1, [](double a, double, double) { return a * std::tanh(std::log(1 + std::exp(a))); }}},
    {"Neg", {1, [](double a, double, double) { return -a; }}},
    {"Not", {1, [](double a, double, double) { return a == 0 ? 1.0 : 0.0; }}},
    {"Reciprocal", {1, [](double a, double, double) { return 1 / a; }}},
    {"Round", {1, [](double a, double, double) { return std::nearbyint(a); }}},
    {"Sigmoid", {1, [](double a, double, double) { return 1 / (1 + std::exp(-a)); }}},
    {"Sign", {1, [](double a, double, double) { return a > 0   ? 1.0
                                                       : a < 0 ? -1.0
                                                               : 0.0; }}},
    {"Sin", {1, [](double a, double, double) { return std::sin(a); }}},
    {"Softplus", {1, [](double a, double, double) { return std::log(1 + std::exp(a)); }}},
    {"Softsign", {1, [](double a, double, double) { return a / (1 + std::abs(a)); }}},
    {"Sqrt", {1, [](double a, double, double) { return std::sqrt(a); }}},
    {"Tanh", {1, [](double a, double, double) { return std::tanh(a); }}},
    {"Trunc", {1, [](double a, double, double) { return a < 0 ? std::ceil(a) : std::floor(a); }}},
    {"Add", {2, [](double a, double b, double) { return a + b; }}},
    {"And", {2, [](double a, double b, double) { return a != 0 && b != 0 ? 1.0 : 0.0; }}},
    {"Celu",
     {2, [](double a, double b, double) { return std::max(a, 0.0) + std::min(b * (std::exp(a / b) - 1), 0.0); }}},
    {"Div", {2, [](double a, double b, double) { return a / b; }}},
    {"Equal", {2, [](double a, double b, double) { return a == b ? 1.0 : 0.0; }}},
    {"Fmod", {2, [](double a, double b, double) { return std::fmod(a, b); }}},
    {"Greater", {2, [](double a, double b, double) { return a > b ? 1.0 : 0.0; }}},
    {"GreaterOrEqual", {2, [](double a, double b, double) { return a >= b ? 1.0 : 0.0; }}},
    {"Less", {2, [](double a, double b, double) { return a < b ? 1.0 : 0.0; }}},
    {"LessOrEqual", {2, [](double a, double b, double) { return a <= b ? 1.0 : 0.0; }}},
    {"Max", {2, [](double a, double b, double) { return std::max(a, b); }}},
    {"Min", {2, [](double a, double b, double) { return std::min(a, b); }}},
    {"Mod", {2, [](double a, double b, double) { return a - b * std::floor(a / b); }}},
    {"Mul", {2, [](double a, double b, double) { return a * b; }}},
    {"Or", {2, [](double a, double b, double) { return a != 0 || b != 0 ? 1.0 : 0.0; }}},
    {"PRelu", {2, [](double a, double b, double) { return a < 0 ? a * b : a; }}},
    {"Pow", {2, [](double a, double b, double) { return std::pow(a, b); }}},
    {"Sub", {2, [](double a, double b, double) { return a - b; }}},
    {"ThresholdedRelu", {2, [](double a, double b, double) { return a > b ? a : 0; }}},
    {"Xor", {2, [](double a, double b, double) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }}},
    {"Clip", {3, [](double a, double b, double c) { return std::min(std::max(a, b), c); }}},
    {"HardSigmoid", {3, [](double a, double b, double c) { return std::min(std::max(a * b + c, 0.0), 1.0); }}},
    {"Selu", {3, [](double a, double b, double c) { return c * (a > 0 ? a : b * (std::exp(a) - 1)); }}},
    {"Where", {3, [](double a, double b, double c) { return a != 0 ? b : c; }}}};

TEST_F(HeadLayers, ElementwiseBroadcastsAnyOperand) {
  for (const auto& [name, definition] : kElementwise) {
    const auto& [count, expected] = definition;
    const bool truths = name == "Not" || name == "And" || name == "Or" || name == "Xor" || name == "Where";
    const bool positive = name == "Log" || name == "Sqrt" || name == "Pow" || name == "Div" || name == "Reciprocal" ||
                          name == "Celu" || name == "Mod" || name == "Fmod";
    for (int round = 0; round < 12; ++round) {
      const Shape shape = anyShape(2 + below(4));
      std::vector<cv::Mat> operands;
      std::vector<int> constants;
      for (int k = 0; k < count; ++k) {
        Shape own = shape;
        if (count > 1) {
          own.erase(own.begin(), own.begin() + below(static_cast<int>(own.size()) - 1));
          for (int& side : own) side = below(3) == 0 ? 1 : side;
          if (k == count - 1) own = shape;  // so that the result has it
        }
        operands.push_back(values(own, positive ? 0.25f : -2.0f, 2));
        if (truths && k == 0) operands[0] = cv::Mat(operands[0] > 0) / 255, operands[0].convertTo(operands[0], CV_32F);
        if (name == "Equal" || name.ends_with("OrEqual"))
          for (float& value : cv::Mat_<float>(operands.back().reshape(1, 1))) value = std::round(value);
        if (k > 0 && below(2) == 0) constants.push_back(k);
      }
      if (count == 2 && round % 4 == 3) constants = {0};
      SCOPED_TRACE(name + " of " + shapeText(shape));
      expectEach(run("HeadElementwise", function(name), operands, constants), shape, [&](const Index& index) {
        return expected(at(operands[0], index), count > 1 ? at(operands[1], index) : 0,
                        count > 2 ? at(operands[2], index) : 0);
      });
    }
  }
}

TEST_F(HeadLayers, ElementwiseRefusesWhatDoesNotFit) {
  EXPECT_ANY_THROW(run("HeadElementwise", function("Add"), {values({2, 3}), values({2, 4})}));
  EXPECT_ANY_THROW(run("HeadElementwise", function("Add"), {values({2, 3})}));
  EXPECT_ANY_THROW(run("HeadElementwise", function("Hardmax"), {values({2, 3})}));
}

TEST_F(HeadLayers, ActivationsOfAnyShape) {
  const std::map<std::string, std::function<double(double)>> activations = {
      {"gelu_erf", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"gelu_tanh",
       [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x))); }},
      {"relu", [](double x) { return std::max(x, 0.0); }}};
  for (const auto& [name, expected] : activations) {
    const cv::Mat x = values({2, 3, 70, 90}, -5, 5);
    cv::dnn::LayerParams params;
    params.set("activation", name);
    expectEach(run("HeadActivate", params, {x}), {2, 3, 70, 90},
               [&, f = expected](const Index& index) { return f(at(x, index)); });
  }
}

struct Fold {
  double start;
  std::function<double(double, double)> step;
  std::function<double(double, double)> finish = [](double s, double) { return s; };
};

TEST_F(HeadLayers, ReductionsOverAnyAxes) {
  const std::map<std::string, Fold> folds = {
      {"ReduceL1", {0, [](double s, double x) { return s + std::abs(x); }}},
      {"ReduceL2", {0, [](double s, double x) { return s + x * x; }, [](double s, double) { return std::sqrt(s); }}},
      {"ReduceLogSum", {0, [](double s, double x) { return s + x; }, [](double s, double) { return std::log(s); }}},
      {"ReduceLogSumExp",
       {0, [](double s, double x) { return s + std::exp(x); }, [](double s, double) { return std::log(s); }}},
      {"ReduceMax", {-INFINITY, [](double s, double x) { return std::max(s, x); }}},
      {"ReduceMean", {0, [](double s, double x) { return s + x; }, [](double s, double n) { return s / n; }}},
      {"ReduceMin", {INFINITY, [](double s, double x) { return std::min(s, x); }}},
      {"ReduceProd", {1, [](double s, double x) { return s * x; }}},
      {"ReduceSum", {0, [](double s, double x) { return s + x; }}},
      {"ReduceSumSquare", {0, [](double s, double x) { return s + x * x; }}}};
  for (const auto& [name, fold] : folds) {
    for (int round = 0; round < 10; ++round) {
      const cv::Mat x = values(anyShape(3 + below(3)), name == "ReduceLogSum" ? 0.1f : -2.0f);
      std::vector<int> axes;
      for (int axis = 1; axis < x.dims; ++axis)
        if (below(2) == 0) axes.push_back(axis);
      if (axes.empty()) axes.push_back(x.dims - 1);
      const bool keep = below(2) == 0 || axes.size() + 2 > static_cast<std::size_t>(x.dims);
      cv::dnn::LayerParams params = function(name);
      params.set("axes", cv::dnn::DictValue::arrayInt(axes.data(), static_cast<int>(axes.size())));
      params.set("keepdims", keep ? 1 : 0);
      Shape shape;
      const auto gone = [&](int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
      for (int axis = 0; axis < x.dims; ++axis)
        if (keep || !gone(axis)) shape.push_back(gone(axis) ? 1 : x.size[axis]);
      std::map<Index, std::pair<double, double>> sums;
      forEach(shapeOf(x), [&](const Index& index) {
        Index to;
        for (int axis = 0; axis < x.dims; ++axis)
          if (keep || !gone(axis)) to.push_back(gone(axis) ? 0 : index[static_cast<std::size_t>(axis)]);
        auto& [sum, count] = sums.try_emplace(to, fold.start, 0).first->second;
        sum = fold.step(sum, at(x, index));
        ++count;
      });
      SCOPED_TRACE(name + " of " + shapeText(shapeOf(x)) + " over " + shapeText(axes));
      expectEach(run("HeadReduce", params, {x}), shape, [&, &f = fold](const Index& index) {
        const auto& [sum, count] = sums.at(index);
        return f.finish(sum, count);
      });
    }
  }
}

TEST_F(HeadLayers, TakeRepeatsAndPicksSlices) {
  for (int round = 0; round < 20; ++round) {
    const cv::Mat x = values(anyShape(2 + below(4)));
    const int axis = below(x.dims), count = 1 + below(7);
    cv::Mat indices(1, count, CV_32F);
    for (int i = 0; i < count; ++i) indices.at<float>(i) = static_cast<float>(below(x.size[axis]));
    Shape shape = shapeOf(x);
    shape[static_cast<std::size_t>(axis)] = count;
    cv::dnn::LayerParams params;
    params.set("axis", axis);
    expectEach(run("HeadTake", params, {x, indices}, {1}), shape, [&](Index index) {
      int& place = index[static_cast<std::size_t>(axis)];
      place = static_cast<int>(indices.at<float>(place));
      // Not at(): that would repeat a side of 1.
      return at(x, index);
    });
  }
  cv::dnn::LayerParams params;
  params.set("axis", 1);
  EXPECT_ANY_THROW(run("HeadTake", params, {values({2, 3}), cv::Mat(1, 1, CV_32F, cv::Scalar(3))}, {1}));
  const cv::Mat outside = cv::Mat_<float>({1, 3}, {2, -1, 0}), x = values({2, 3});
  EXPECT_ANY_THROW(run("HeadTake", params, {x, outside}, {1}));
  params.set("fill", 0.5);
  expectEach(run("HeadTake", params, {x, outside}, {1}), {2, 3}, [&](const Index& index) {
    return index[1] == 1 ? 0.5 : at(x, {index[0], 2 - index[1]});
  });
}

TEST_F(HeadLayers, WindowsSumOrTakeTheLargest) {
  for (int round = 0; round < 20; ++round) {
    const cv::Mat x = values(anyShape(2 + below(4)));
    const int axis = below(x.dims), count = 1 + below(7), taps = 1 + below(4);
    cv::Mat indices(count, taps, CV_32F);
    for (float& index : cv::Mat_<float>(indices)) index = static_cast<float>(below(x.size[axis]));
    const cv::Mat weights = values({count, taps});
    Shape shape = shapeOf(x);
    shape[static_cast<std::size_t>(axis)] = count;
    for (const std::string name : {"Sum", "Max"}) {
      cv::dnn::LayerParams params = function(name);
      params.set("axis", axis);
      const bool sums = name == "Sum";
      const auto operands = sums ? std::vector<cv::Mat>{x, indices, weights} : std::vector<cv::Mat>{x, indices};
      expectEach(run("HeadWindow", params, operands, sums ? std::vector<int>{1, 2} : std::vector<int>{1}), shape,
                 [&](Index index) {
                   int& place = index[static_cast<std::size_t>(axis)];
                   const int row = place;
                   double result = sums ? 0 : -INFINITY;
                   for (int t = 0; t < taps; ++t) {
                     place = static_cast<int>(indices.at<float>(row, t));
                     const double value = at(x, index);
                     result = sums ? result + static_cast<double>(weights.at<float>(row, t)) * value
                                   : std::max(result, value);
                   }
                   return result;
                 });
    }
  }
}

TEST_F(HeadLayers, GathersByIndicesOfTheNet) {
  for (int round = 0; round < 20; ++round) {
    const cv::Mat x = values(anyShape(3 + below(2)));
    const int axis = below(x.dims);
    const auto indices = [&](const Shape& shape, int side) {
      cv::Mat result(shape, CV_32F);
      for (float& index : cv::Mat_<float>(result.reshape(1, 1))) index = static_cast<float>(below(2 * side) - side);
      return result;
    };
    const auto front = [&](double index, int of) { return static_cast<int>(index) + (index < 0 ? of : 0); };
    const auto params = [&](const std::string& name, int at_axis) {
      cv::dnn::LayerParams result = function(name);
      result.set("axis", at_axis);
      return result;
    };
    const auto along = static_cast<std::size_t>(axis);
    const Shape shape = shapeOf(x);

    Shape part = shape;
    for (int& side : part) side = 1 + below(side);
    part[along] = 1 + below(9);
    const cv::Mat elements = indices(part, x.size[axis]);
    expectEach(run("HeadGather", params("GatherElements", axis), {x, elements}), part, [&](Index index) {
      index[along] = front(at(elements, index), x.size[axis]);
      return at(x, index);
    });

    const cv::Mat slices = indices({2, 3}, x.size[axis]);
    Shape gathered = shape;
    gathered[along] = 3;
    gathered.insert(gathered.begin() + axis, 2);
    expectEach(
        run("HeadGather", params("Gather", axis), {x, slices}, round % 2 ? std::vector<int>{0} : std::vector<int>{}),
        gathered, [&](Index index) {
          const double picked = at(slices, {index[along], index[along + 1]});
          index.erase(index.begin() + axis);
          index[along] = front(picked, x.size[axis]);
          return at(x, index);
        });

    // By one index along the axis behind the batch.
    const cv::Mat rows = indices({x.size[0], 4, 1}, x.size[1]);
    Shape picked = {x.size[0], 4};
    picked.insert(picked.end(), shape.begin() + 2, shape.end());
    expectEach(run("HeadGather", params("GatherND", 1), {x, rows}), picked, [&](Index index) {
      index[1] = front(at(rows, {index[0], index[1], 0}), x.size[1]);
      return at(x, index);
    });
  }
  cv::dnn::LayerParams params = function("GatherElements");
  params.set("axis", 1);
  EXPECT_ANY_THROW(run("HeadGather", params, {values({2, 3}), cv::Mat(2, 1, CV_32F, cv::Scalar(3))}));
  EXPECT_ANY_THROW(run("HeadGather", params, {values({2, 3}), cv::Mat(3, 1, CV_32F, cv::Scalar(0))}));
}

TEST_F(HeadLayers, TopKSortsAndPrefersTheFirst) {
  for (int round = 0; round < 20; ++round) {
    cv::Mat x = values(anyShape(2 + below(3)));
    for (float& value : cv::Mat_<float>(x.reshape(1, 1))) value = std::round(value);
    const int axis = below(x.dims), k = 1 + below(x.size[axis]), largest = below(2);
    cv::dnn::LayerParams params;
    params.set("axis", axis);
    params.set("k", k);
    params.set("largest", largest);
    const std::vector<cv::Mat> found = runAll("HeadTopK", params, {x});
    const auto along = static_cast<std::size_t>(axis);
    Shape shape = shapeOf(x);
    shape[along] = k;
    const auto place = [&](Index index) {  // of the element that index[axis] others precede
      const int rank = index[along];
      for (int i = 0; i < x.size[axis]; ++i) {
        index[along] = i;
        const double value = at(x, index);
        int before = 0;
        for (int j = 0; j < x.size[axis]; ++j) {
          index[along] = j;
          const double other = at(x, index);
          before += (largest ? other > value : other < value) || (other == value && j < i);
        }
        if (before == rank) return i;
      }
      return -1;
    };
    expectEach(found[1], shape, [&](const Index& index) { return static_cast<double>(place(index)); });
    expectEach(found[0], shape, [&](Index index) {
      index[along] = place(index);
      return at(x, index);
    });
  }
}

TEST_F(HeadLayers, GroupsHaveAsManyChannels) {
  cv::dnn::LayerParams params;
  params.set("groups", 4);
  params.set("eps", 1e-3);
  EXPECT_ANY_THROW(run("HeadNormalize", params, {values({1, 6, 2}), values({1, 6}), values({1, 6})}, {1, 2}));
}

// What it computes: the heads of tests/onnx/heads_test.cpp.
TEST_F(HeadLayers, GridSampleAtNoPlaceIsZero) {
  cv::dnn::LayerParams params;
  params.set("mode", "linear");
  params.set("padding", "zeros");
  const cv::Mat lost(Shape{1, 1, 2, 2}, CV_32F, cv::Scalar(NAN));
  expectEach(run("HeadGridSample", params, {values({1, 2, 3, 3}), lost}), {1, 2, 1, 2},
             [](const Index&) { return 0.0; });
  EXPECT_ANY_THROW(run("HeadGridSample", params, {values({2, 2, 3, 3}), lost}));
}

TEST_F(HeadLayers, EinsumSumsProducts) {
  for (const std::string equation : {"bqc,bchw->bqhw", "abxy,abyz->abxz", "xy,yz->xz", "bhqd,bhkd->bhqk", "bi,bj->bij",
                                     "abc,cd->dba", "bnd,bnd->bn", "bhwc,bqc->bqhw"}) {
    for (int round = 0; round < 6; ++round) {
      std::map<char, int> sides;
      const std::size_t comma = equation.find(','), arrow = equation.find("->");
      const std::string letters[] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1),
                                     equation.substr(arrow + 2)};
      for (const char letter : letters[0] + letters[1]) sides.try_emplace(letter, 1 + below(6));
      if (round == 5) sides[letters[1].back()] = 600;  // more than one tile
      std::vector<cv::Mat> operands;
      for (int k = 0; k < 2; ++k) {
        Shape shape;
        for (const char letter : letters[k]) {
          const bool in_both =
              letters[0].find(letter) != std::string::npos && letters[1].find(letter) != std::string::npos;
          shape.push_back(in_both && k == 0 && letter == letters[2][0] && below(2) == 0 ? 1 : sides[letter]);
        }
        operands.push_back(values(shape));
      }
      std::string summed;
      for (const auto& [letter, side] : sides)
        if (letters[2].find(letter) == std::string::npos) summed += letter;
      cv::dnn::LayerParams params;
      params.set("equation", equation);
      Shape shape, sum_shape;
      for (const char letter : letters[2]) shape.push_back(sides[letter]);
      for (const char letter : summed) sum_shape.push_back(sides[letter]);
      SCOPED_TRACE(equation + " to " + shapeText(shape));
      const std::vector<int> constants = round % 3 == 1 ? std::vector<int>{round % 2} : std::vector<int>{};
      expectEach(
          run("HeadEinsum", params, operands, constants), shape,
          [&](const Index& index) {
            double sum = 0;
            forEach(sum_shape, [&](const Index& inner) {
              double product = 1;
              for (int k = 0; k < 2; ++k) {
                Index place;
                for (const char letter : letters[k]) {
                  const std::size_t out = letters[2].find(letter);
                  place.push_back(out != std::string::npos ? index[out] : inner[summed.find(letter)]);
                }
                product *= at(operands[static_cast<std::size_t>(k)], place);
              }
              sum += product;
            });
            return sum;
          },
          1e-4);
    }
  }
}

}  // namespace
}  // namespace mpm
