// SPDX-License-Identifier: Apache-2.0
// mpm._mpm: the library's functions on NumPy arrays. python/mpm/__init__.py is the public face.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <span>

#include "evaluation/confusion_matrix.h"
#include "layers/opencv_adapter.h"
#include "layers/ops.h"
#include "mpm/mpm.hpp"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace mpm::python {
namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;
using Pair = std::pair<int, int>;  // height and width

/// Runs `work` without the GIL. cv::Exception and a lack of memory become mpm::Error.
template <class Work>
auto withoutGil(Work work) {
  const nb::gil_scoped_release release;
  try {
    return work();
  } catch (const cv::Exception& error) {
    throw Error(opencv::oneLine(error));
  } catch (const std::bad_alloc&) {
    throw Error("not enough memory");
  }
}

std::vector<std::size_t> shapeOf(const cv::Mat& mat) {
  std::vector<std::size_t> shape(mat.size.p, mat.size.p + mat.dims);
  if (mat.channels() > 1) shape.push_back(static_cast<std::size_t>(mat.channels()));
  return shape;
}

/// An array that shares the memory of `mat`, which is continuous and of element type T.
template <class T>
Array<T> toArray(cv::Mat mat) {
  auto owner = std::make_unique<cv::Mat>(std::move(mat));
  const std::vector<std::size_t> shape = shapeOf(*owner);
  void* const data = owner->data;
  const nb::capsule capsule(owner.get(), [](void* held) noexcept { delete static_cast<cv::Mat*>(held); });
  owner.release();
  return Array<T>(data, shape.size(), shape.data(), capsule);
}

template <class T>
Array<T> toArray(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  void* const data = owner->data();
  const nb::capsule capsule(owner.get(), [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  owner.release();
  return Array<T>(data, shape.size(), shape.data(), capsule);
}

std::string describe(const Input& array) {
  std::string text = "shape (";
  for (std::size_t i = 0; i < array.ndim(); ++i) text += (i ? ", " : "") + std::to_string(array.shape(i));
  const bool is_float = array.dtype().code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  const bool is_unsigned = array.dtype().code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt);
  return text + ") of " + (is_float ? "float" : is_unsigned ? "uint" : "int") + std::to_string(array.dtype().bits);
}

/// The array as a matrix without a copy; `depth` is CV_8U, CV_32F or CV_32S. The last dimension becomes channels when
/// `channels` > 1. Throws mpm::Error("WHAT, got SHAPE") for another type or for dimensions that are not contiguous.
template <class T>
cv::Mat toMat(const Input& array, int dims, int channels, const std::string& what) {
  const auto sides = static_cast<int>(array.ndim());
  bool fits = array.dtype() == nb::dtype<T>() && (dims == 0 || sides == dims);
  if (channels > 1) fits = fits && sides > 0 && array.shape(sides - 1) == static_cast<std::size_t>(channels);
  if (!fits) throw Error(what + ", got " + describe(array));
  std::int64_t expected = 1;
  for (int i = sides - 1; i >= 0; --i) {
    if (array.size() > 0 && array.shape(i) != 1 && array.stride(i) != expected)
      throw Error(what + " in C order; call numpy.ascontiguousarray first");
    expected *= static_cast<std::int64_t>(array.shape(i));
  }
  std::vector<int> sizes;
  for (int i = 0; i < sides - (channels > 1 ? 1 : 0); ++i) sizes.push_back(static_cast<int>(array.shape(i)));
  return {sizes, CV_MAKETYPE(cv::DataType<T>::depth, channels), const_cast<void*>(array.data())};
}

cv::Mat toImage(const Input& array) {
  return toMat<std::uint8_t>(array, 3, 3, "an image is an array (height, width, 3) of uint8");
}

cv::Mat toLabels(const Input& array) {
  return toMat<std::uint8_t>(array, 2, 1, "a label map is an array (height, width) of uint8");
}

ConvertOptions convertOptions(const std::optional<std::vector<int>>& schedule, const std::optional<std::string>& reduce,
                              std::optional<Pair> input_size, const std::string& precision, const std::string& output,
                              bool scores) {
  if (schedule && reduce) throw Error("schedule is short for reduce: give one of the two");
  ConvertOptions options;
  if (schedule) options.reduce = mpmBefore(*schedule);
  if (reduce) options.reduce = parseReduction(*reduce);
  if (input_size) options.input_size = Size2{input_size->first, input_size->second};
  options.precision = parsePrecision(precision);
  options.output = parseOutput(output);
  options.scores = scores;
  options.validate();
  return options;
}

ReadOptions readOptions(const ConvertOptions& convert, const std::string& device) {
  ReadOptions options;
  options.convert = convert;
  options.device = device;
  options.validate();
  return options;
}

nb::dict toDict(const ModelInfo& info) {
  nb::dict dict;
  const auto pair = [](Size2 size) { return nb::make_tuple(size.height, size.width); };
  dict["name"] = info.facts.name;
  dict["converted"] = info.converted;
  dict["blocks"] = info.blocks;
  dict["dim"] = info.dim;
  dict["heads"] = info.heads;
  dict["patch"] = pair(info.patch);
  dict["special_tokens"] = info.special_tokens;
  dict["tokens"] = info.tokens();
  dict["input"] = pair(info.input);
  dict["grid"] = pair(info.grid);
  dict["head"] = toString(info.head);
  dict["task"] = info.task ? nb::object(nb::cast(toString(*info.task))) : nb::none();
  dict["classes"] = info.classes;
  dict["class_names"] = vision::classNames(info);
  dict["ignore"] = info.facts.ignore;
  dict["depth"] = info.task == Task::kDepth ? nb::object(nb::cast(toString(info.facts.depth))) : nb::none();
  dict["channels"] = toString(info.facts.channels);
  dict["mean"] = info.facts.mean;
  dict["std"] = info.facts.std;
  dict["reduction"] = toString(info.reduction);
  dict["precision"] = toString(info.precision);
  dict["opset"] = info.opset;
  dict["parameters"] = info.parameters;
  dict["outputs"] = info.outputs;
  return dict;
}

nb::dict toDict(const StageTimes& ms) {
  nb::dict dict;
  dict["total"] = ms.total;
  dict["preprocess"] = ms.preprocess;
  dict["backbone"] = ms.backbone;
  dict["merge"] = ms.merge;
  dict["restore"] = ms.restore;
  dict["head"] = ms.head;
  dict["postprocess"] = ms.postprocess;
  return dict;
}

nb::dict toDict(const ReuseReport& report) {
  nb::dict dict;
  dict["rows"] = report.rows;
  dict["key_frame"] = report.key_frame;
  dict["agreement"] = report.agreement;
  dict["threshold"] = report.threshold;
  dict["kept_bytes"] = report.kept_bytes;
  return dict;
}

/// BGR colours of classes as an array {classes, 3}.
Array<std::uint8_t> colorsOf(const ModelInfo& info) {
  const std::vector<cv::Vec3b> colors = vision::classColors(info.facts, info.classes);
  std::vector<std::uint8_t> values;
  for (const cv::Vec3b& color : colors) values.insert(values.end(), color.val, color.val + 3);
  return toArray(std::move(values), {colors.size(), 3});
}

/// An Estimator that several threads may call; they take turns.
class LockedEstimator {
 public:
  LockedEstimator(const std::string& model, const EstimatorOptions& options, const std::string& channels)
      : rgb_(parseChannelOrder(channels) == ChannelOrder::kRgb),
        estimator_(withoutGil([&] { return std::make_unique<Estimator>(model, options); })) {}

  const ModelInfo& model() const { return estimator_->model(); }

  /// The fields of mpm.Estimate; segments are tuples of id, label, score, area.
  nb::tuple estimate(const Input& array) {
    const cv::Mat image = toImage(array);
    Estimate result = withoutGil([&] {
      cv::Mat bgr;  // never the caller's memory
      if (rgb_) cv::cvtColor(image, bgr, cv::COLOR_RGB2BGR);
      const std::lock_guard lock(mutex_);
      return estimator_->estimate(rgb_ ? bgr : image);
    });
    nb::list segments;
    for (const Segment& one : result.segments) segments.append(nb::make_tuple(one.id, one.label, one.score, one.area));
    const std::size_t insertions = result.cluster_of_token.size();
    const auto tokens = static_cast<std::size_t>(model().tokens());
    std::vector<std::int32_t> maps;
    maps.reserve(insertions * tokens);
    for (const std::vector<int>& map : result.cluster_of_token) maps.insert(maps.end(), map.begin(), map.end());
    return nb::make_tuple(orNone<std::uint8_t>(std::move(result.labels)), orNone<std::uint16_t>(std::move(result.ids)),
                          segments, orNone<float>(std::move(result.depth)),
                          nb::make_tuple(result.grid.height, result.grid.width), nb::tuple(nb::cast(result.tokens)),
                          toArray(std::move(maps), {insertions, tokens}), toDict(result.ms),
                          result.reuse ? nb::object(toDict(*result.reuse)) : nb::none());
  }

  void reset() {
    withoutGil([&] {
      const std::lock_guard lock(mutex_);
      estimator_->reset();
    });
  }

 private:
  template <class T>
  static nb::object orNone(cv::Mat&& map) {
    return map.empty() ? nb::none() : nb::cast(toArray<T>(std::move(map)));
  }

  bool rgb_;
  std::unique_ptr<Estimator> estimator_;
  std::mutex mutex_;
};

/// A cv::dnn::Net that several threads may call; they take turns.
class LockedNet {
 public:
  LockedNet(const std::string& model, const ReadOptions& options)
      : loaded_(withoutGil([&] { return readNet(model, options); })), outputs_(options.outputs) {
    if (!outputs_.empty()) return;
    outputs_ = loaded_.info.outputs;
    if (options.convert.scores && loaded_.info.segments()) outputs_.emplace_back("scores");
    outputs_.insert(outputs_.end(), {"merge_map", "token_counts"});
  }

  /// All outputs, in the order of outputs().
  std::vector<Array<float>> forward(const Input& array) {
    const cv::Mat input =
        toMat<float>(array, 4, 1, "the input of a net is an array (batch, 3, height, width) of float32");
    std::vector<cv::Mat> blobs = withoutGil([&] {
      const std::lock_guard lock(mutex_);
      loaded_.net.setInput(input);
      std::vector<cv::Mat> found;
      loaded_.net.forward(found, std::vector<cv::String>(outputs_.begin(), outputs_.end()));
      for (cv::Mat& blob : found) blob = blob.clone();  // the net's own memory: the next forward() writes it
      return found;
    });
    std::vector<Array<float>> arrays;
    for (cv::Mat& blob : blobs) arrays.push_back(toArray<float>(std::move(blob)));
    return arrays;
  }

  const std::vector<std::string>& outputs() const { return outputs_; }
  const ModelInfo& model() const { return loaded_.info; }

 private:
  LoadedNet loaded_;
  std::vector<std::string> outputs_;
  std::mutex mutex_;
};

/// One ai.mpm layer outside of a net, for the layers that register_cv2() gives to another OpenCV.
class LooseLayer {
 public:
  LooseLayer(const std::string& type, const nb::dict& attributes, const std::vector<Input>& constants) {
    registerLayers();
    cv::dnn::LayerParams params;
    params.name = params.type = "ai.mpm." + type;
    for (const auto [key, value] : attributes) {
      const auto name = nb::cast<std::string>(key);
      if (nb::isinstance<nb::str>(value))
        params.set(name, cv::String(nb::cast<std::string>(value)));
      else if (nb::isinstance<nb::int_>(value))
        params.set(name, nb::cast<std::int64_t>(value));
      else if (nb::isinstance<nb::float_>(value))
        params.set(name, nb::cast<double>(value));
    }
    for (const Input& constant : constants)
      params.blobs.push_back(toMat<float>(constant, 0, 1, "a constant is an array of float32").clone());
    layer_ = withoutGil([&] { return cv::dnn::LayerFactory::createLayerInstance(params.type, params); });
    if (!layer_) throw Error("there is no layer '" + params.type + "'");
  }

  std::vector<std::vector<int>> outputShapes(const std::vector<std::vector<int>>& inputs) const {
    std::vector<opencv::MatShape> in, out, internals;
    for (const std::vector<int>& shape : inputs) in.push_back(opencv::makeShape(shape));
    withoutGil([&] { return layer_->getMemoryShapes(in, 0, out, internals); });
    std::vector<std::vector<int>> shapes;
    for (const opencv::MatShape& shape : out) shapes.emplace_back(shape.begin(), shape.end());
    return shapes;
  }

  std::vector<Array<float>> forward(const std::vector<Input>& arrays) {
    std::vector<cv::Mat> inputs, outputs, internals;
    std::vector<std::vector<int>> shapes;
    for (const Input& array : arrays) {
      inputs.push_back(toMat<float>(array, 0, 1, "the input of a layer is an array of float32"));
      shapes.emplace_back(inputs.back().size.p, inputs.back().size.p + inputs.back().dims);
    }
    for (const std::vector<int>& shape : outputShapes(shapes)) outputs.emplace_back(shape, CV_32F);
    withoutGil([&] { layer_->forward(inputs, outputs, internals); });
    std::vector<Array<float>> results;
    for (cv::Mat& output : outputs) results.push_back(toArray<float>(std::move(output)));
    return results;
  }

 private:
  cv::Ptr<cv::dnn::Layer> layer_;
};

nb::tuple merge(const Input& array, int special) {
  const cv::Mat tokens = toMat<float>(array, 2, 1, "tokens are an array (special + N, dim) of float32");
  MergedTokens merged =
      withoutGil([&] { return mutualPairMerge(std::span(tokens.ptr<float>(), tokens.total()), special, tokens.cols); });
  const std::size_t count = merged.map.cluster_of_token.size();
  const auto dim = static_cast<std::size_t>(tokens.cols);
  const std::size_t rows = merged.tokens.size() / std::max<std::size_t>(dim, 1);
  return nb::make_tuple(toArray(std::move(merged.tokens), {rows, dim}),
                        toArray(std::move(merged.map.cluster_of_token), {count}));
}

Array<float> restore(const Input& array, const Input& map, int special) {
  const cv::Mat merged = toMat<float>(array, 2, 1, "merged tokens are an array (special + clusters, dim) of float32");
  const cv::Mat ids = toMat<std::int32_t>(map, 1, 1, "a merge map is an array (N,) of int32");
  const auto dim = static_cast<std::size_t>(merged.cols);
  std::vector<float> restored = withoutGil([&] {
    return restoreTokens(std::span(merged.ptr<float>(), merged.total()), special, merged.cols,
                         {{ids.ptr<int>(), ids.ptr<int>() + ids.total()}, merged.rows - special});
  });
  const std::size_t rows = restored.size() / std::max<std::size_t>(dim, 1);
  return toArray(std::move(restored), {rows, dim});
}

Array<std::uint8_t> overlay(const Input& image, const Input& labels, const std::optional<Input>& colors,
                            double opacity) {
  const cv::Mat pixels = toImage(image), classes = toLabels(labels);
  std::vector<cv::Vec3b> palette;
  if (colors) {
    const cv::Mat rows = toMat<std::uint8_t>(*colors, 2, 3, "colours are an array (classes, 3) of uint8");
    palette.assign(rows.ptr<cv::Vec3b>(), rows.ptr<cv::Vec3b>() + rows.total());
  } else {
    palette = vision::classColors({}, 256);
  }
  return toArray<std::uint8_t>(withoutGil([&] { return vision::overlayPicture(pixels, classes, palette, opacity); }));
}

}  // namespace

NB_MODULE(_mpm, module) {
  nb::exception<Error>(module, "Error", PyExc_RuntimeError).attr("__doc__") =
      "An error of this package: one line that names the problem and says what to do.";
  nb::set_leak_warnings(false);  // cv2 keeps the layers of register_cv2() until the process ends
  module.attr("__version__") = MPM_VERSION;
  module.attr("opencv_version") = CV_VERSION;
  module.attr("operators") = operatorNames();

  nb::class_<ConvertOptions>(module, "ConvertOptions");
  module.def("convert_options", &convertOptions);

  nb::class_<LockedEstimator>(module, "Estimator")
      .def(
          "__init__",
          [](LockedEstimator* self, const std::string& model, const ConvertOptions& convert, const std::string& device,
             const std::optional<std::string>& task, const std::string& fit, int window_stride, int short_side,
             double min_score, double min_overlap, int threads, const std::string& channels, const std::string& reuse) {
            if (fit != "resize" && fit != "window") throw Error("the fit is '" + fit + "'; it can be resize or window");
            if (fit == "resize" && (window_stride != 0 || short_side != 0))
              throw Error(std::string(short_side != 0 ? "short_side" : "window_stride") + " needs fit='window'");
            EstimatorOptions options;
            options.read = readOptions(convert, device);
            if (task) options.task = parseTask(*task);
            options.fit = fit == "window" ? Fit::kWindow : Fit::kResize;
            options.window_stride = window_stride;
            options.short_side = short_side;
            options.min_score = min_score;
            options.min_overlap = min_overlap;
            options.threads = threads;
            options.reuse = parseReuse(reuse);
            new (self) LockedEstimator(model, options, channels);
          })
      .def("estimate", &LockedEstimator::estimate, "image"_a)
      .def("reset", &LockedEstimator::reset)
      .def_prop_ro("info", [](const LockedEstimator& self) { return toDict(self.model()); })
      .def_prop_ro(
          "colors", [](const LockedEstimator& self) { return colorsOf(self.model()); }, nb::rv_policy::move);

  nb::class_<LockedNet>(module, "Net")
      .def("__init__",
           [](LockedNet* self, const std::string& model, const ConvertOptions& convert, const std::string& device,
              std::vector<std::string> outputs) {
             ReadOptions options = readOptions(convert, device);
             options.outputs = std::move(outputs);
             new (self) LockedNet(model, options);
           })
      .def("forward", &LockedNet::forward, "array"_a)
      .def_prop_ro("outputs", &LockedNet::outputs)
      .def_prop_ro("info", [](const LockedNet& self) { return toDict(self.model()); });

  nb::class_<LooseLayer>(module, "Layer")
      .def(nb::init<const std::string&, const nb::dict&, const std::vector<Input>&>())
      .def("output_shapes", &LooseLayer::outputShapes)
      .def("forward", &LooseLayer::forward);

  nb::class_<vision::ConfusionMatrix>(module, "ConfusionMatrix")
      .def(nb::init<int, int>(), "classes"_a, "ignore"_a)
      .def("add", [](vision::ConfusionMatrix& self, const Input& truth,
                     const Input& prediction) { self.add(toLabels(truth), toLabels(prediction)); })
      .def_prop_ro("iou", &vision::ConfusionMatrix::iou)
      .def_prop_ro("mean_iou", &vision::ConfusionMatrix::meanIou)
      .def_prop_ro("pixel_accuracy", &vision::ConfusionMatrix::pixelAccuracy)
      .def("count", &vision::ConfusionMatrix::count);

  module.def("convert", [](const std::string& model, const std::string& to, const ConvertOptions& options) {
    return toDict(withoutGil([&] { return convertFile(model, to, options); }));
  });
  module.def("info", [](const std::string& model) { return toDict(withoutGil([&] { return readModelInfo(model); })); });
  module.def("merge", &merge);
  module.def("restore", &restore);
  module.def("overlay", &overlay);
  module.def("after_fork", [] { cv::setNumThreads(1); });
}

}  // namespace mpm::python
