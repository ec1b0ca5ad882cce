// SPDX-License-Identifier: Apache-2.0
// mpm._mpm: the library's functions on NumPy arrays. python/mpm/__init__.py is the public face.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>

#include "base/atomic_file.h"
#include "base/reuse_patches.h"
#include "base/visible_text.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/flop_counter.h"
#include "evaluation/numbers.h"
#include "evaluation/teaching.h"
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

/// An argument that is wrong, whatever the model.
struct ArgumentError : Error {
  using Error::Error;
};

/// A file that is not there.
struct FileError : Error {
  using Error::Error;
};

/// Counts the calls that run without the GIL, so that fork() and the end of the interpreter wait for them: a child
/// would inherit their locks from threads that it does not have, and Python ends a thread that asks for the GIL too
/// late through the frames of C++, which aborts. While the gate is closed, calls of other threads wait.
class Gate {
 public:
  static Gate& instance() {
    static auto& gate = *new Gate;  // never destroyed: threads may wait here when the process ends
    return gate;
  }

  /// Begins a call. Without the GIL.
  void enter() {
    if (depth_++ > 0) return;  // a call inside a call
    std::unique_lock lock(mutex_);
    open_.wait(lock, [&] { return closings_ == 0 || mine(); });
    ++running_;
  }
  /// Ends a call. With the GIL.
  void leave() {
    if (--depth_ > 0) return;
    const std::lock_guard lock(mutex_);
    --running_;
    idle_.notify_all();
  }

  /// Waits for the calls of other threads. Without the GIL.
  void close() {
    std::unique_lock lock(mutex_);
    open_.wait(lock, [&] { return closings_ == 0 || mine(); });
    ++closings_;
    closer_ = std::this_thread::get_id();
    idle_.wait(lock, [&] { return running_ == (depth_ > 0 ? 1 : 0); });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    if (--closings_ == 0) open_.notify_all();
  }
  /// In a child of fork(), whose one thread called close(): the threads that waited here do not exist.
  void renew() {
    new (this) Gate;
    running_ = depth_ > 0 ? 1 : 0;
  }

 private:
  bool mine() const { return closer_ == std::this_thread::get_id(); }

  static inline thread_local int depth_ = 0;  ///< calls inside each other, of this thread
  std::mutex mutex_;
  std::condition_variable open_, idle_;
  int running_ = 0;  ///< threads in a call
  int closings_ = 0;
  std::thread::id closer_;
};

/// Runs `work` without the GIL. cv::Exception and a lack of memory become mpm::Error, and OpenCV logs nothing of them.
template <class Work>
auto withoutGil(Work work) {
  const struct End {
    ~End() { Gate::instance().leave(); }
  } end{};  // made before the GIL is released, so that the call ends after this thread has the GIL again
  const nb::gil_scoped_release release;
  Gate::instance().enter();
  const opencv::QuietLog quiet;
  try {
    return work();
  } catch (const cv::Exception& error) {
    throw Error(opencv::oneLine(error));
  } catch (const std::bad_alloc&) {
    throw Error("not enough memory");
  }
}

/// Returns the result of `work`, which depends on its arguments alone: its errors are errors of theirs.
template <class Work>
auto ofArguments(Work work) {
  try {
    return work();
  } catch (const Error& error) {
    throw ArgumentError(error.what());
  }
}

/// `value` in a few words.
std::string shown(nb::handle value) {
  const std::string text = nb::repr(value).c_str();
  const bool is_short = text.size() <= 60 && text.find('\n') == std::string::npos;
  return is_short ? text : "a " + nb::cast<std::string>(nb::handle(value.type()).attr("__name__"));
}

/// Throws ArgumentError("NAME is EXPECTED, got VALUE") for a value of another type.
template <class T>
T valueOf(nb::handle value, const char* name, const char* expected) {
  T taken{};
  if (nb::try_cast(value, taken)) return taken;
  if (std::is_same_v<T, int> && PyLong_Check(value.ptr()))
    throw ArgumentError(std::string(name) + " is out of range: " + shown(value));
  throw ArgumentError(std::string(name) + " is " + expected + ", got " + shown(value));
}

template <class T>
T argument(const nb::dict& arguments, const char* name, const char* expected) {
  return valueOf<T>(arguments[name], name, expected);
}

constexpr const char *kWholeNumber = "a whole number", *kYesOrNo = "True or False";

/// Throws ArgumentError("WHAT, got VALUE") for what is no path.
std::string pathOf(nb::handle value, const char* what) {
  PyObject* path = nullptr;  // its bytes, which need not be UTF-8, and without a NUL
  if (PyUnicode_FSConverter(value.ptr(), &path) != 0) return nb::steal<nb::bytes>(path).c_str();
  PyErr_Clear();
  throw ArgumentError(std::string(what) + ", got " + shown(value));
}

/// Throws FileError if there is no such file, or its folder cannot be read.
void requireThere(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status))
    throw FileError(visibleText(path, 200) + ": " + (status ? status.message() : "no such file"));
}

/// Throws FileError if a file cannot be written because its folder is missing.
void requireFolderOf(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code status;
  if (folder.empty() || std::filesystem::exists(folder, status)) return;
  throw FileError("cannot write '" + visibleText(file, 100) + "': there is no folder '" +
                  visibleText(folder.string(), 100) + "'");
}

/// The path of a model. Throws FileError where no file is.
std::string modelPath(nb::handle value) {
  const std::string path = pathOf(value, "a model is the path of an ONNX file");
  requireThere(path);
  return path;
}

std::vector<std::size_t> shapeOf(const cv::Mat& mat) {
  std::vector<std::size_t> shape(mat.size.p, mat.size.p + mat.dims);
  if (mat.channels() > 1) shape.push_back(static_cast<std::size_t>(mat.channels()));
  return shape;
}

/// Whether nobody else has the memory of `mat`. Some versions of OpenCV copy the outputs of a net, others do not.
bool isAlone(const cv::Mat& mat) { return mat.u != nullptr && CV_XADD(&mat.u->refcount, 0) == 1; }

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
  constexpr std::array kKinds{"int", "uint", "float", "object", "bfloat", "complex", "bool"};  // by the codes of DLPack
  const std::size_t code = array.dtype().code;
  return text + ") of " + (code < kKinds.size() ? kKinds[code] : "type") + std::to_string(array.dtype().bits);
}

/// The array as a matrix without a copy; `depth` is CV_8U, CV_32F or CV_32S. The last dimension becomes channels when
/// `channels` > 1. Throws ArgumentError("WHAT, got VALUE") for anything else and for dimensions that are not
/// contiguous.
template <class T>
cv::Mat toMat(nb::handle value, int dims, int channels, const std::string& what) {
  Input array;
  if (!nb::try_cast(value, array)) throw ArgumentError(what + ", got " + shown(value));
  const auto sides = static_cast<int>(array.ndim());
  bool fits = array.dtype() == nb::dtype<T>() && (dims == 0 || sides == dims);
  if (channels > 1) fits = fits && sides > 0 && array.shape(sides - 1) == static_cast<std::size_t>(channels);
  if (!fits) throw ArgumentError(what + ", got " + describe(array));
  std::int64_t expected = 1;
  for (int i = sides - 1; i >= 0; --i) {
    if (array.size() > 0 && array.shape(i) != 1 && array.stride(i) != expected)
      throw ArgumentError(what + " in C order; call numpy.ascontiguousarray first");
    if (array.shape(i) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw ArgumentError(what + " with sides below 2^31, got " + describe(array));
    expected *= static_cast<std::int64_t>(array.shape(i));
  }
  std::vector<int> sizes;
  for (int i = 0; i < sides - (channels > 1 ? 1 : 0); ++i) sizes.push_back(static_cast<int>(array.shape(i)));
  return {sizes, CV_MAKETYPE(cv::DataType<T>::depth, channels), const_cast<void*>(array.data())};
}

cv::Mat toImage(nb::handle value) {
  const std::string what = "an image is an array (height, width, 3) of uint8";
  if (value.is_none()) throw ArgumentError(what + ", got None: cv2.imread gives None for a file that it cannot read");
  if (nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__"))
    throw ArgumentError(what + ", got " + shown(value) + ": read the file first, with cv2.imread for example");
  cv::Mat image = toMat<std::uint8_t>(value, 3, 3, what);
  if (image.empty()) throw ArgumentError("the image is empty");
  return image;
}

cv::Mat toLabels(nb::handle value) {
  return toMat<std::uint8_t>(value, 2, 1, "a label map is an array (height, width) of uint8");
}

ConvertOptions convertOptions(const nb::dict& arguments) {
  using Blocks = std::optional<std::variant<std::string, std::vector<int>>>;
  const auto schedule = argument<Blocks>(arguments, "schedule", "blocks such as (2, 5) or '2,5'");
  const auto reduce = argument<std::optional<std::string>>(arguments, "reduce", "a text such as 'tome:count=8'");
  const auto size = argument<std::optional<Pair>>(arguments, "input_size", "(height, width) in px");
  const auto precision = argument<std::optional<std::string>>(arguments, "precision", "a text such as 'fp32'");
  const bool rule = arguments.contains("rule");
  if (schedule && (reduce || rule)) throw ArgumentError("schedule is short for reduce: give one of the two");
  ConvertOptions options;
  ofArguments([&] {
    if (schedule) {
      const auto* const text = std::get_if<std::string>(&*schedule);
      options.reduce = mpmBefore(text != nullptr ? parseSchedule(*text) : std::get<std::vector<int>>(*schedule));
    }
    if (reduce) options.reduce = parseReduction(*reduce);
    if (rule) {
      const auto blocks = argument<std::optional<std::string>>(arguments, "blocks", "a text");
      options.reduce = Reduction{
          .method = ReductionMethod::kRule,
          .blocks = blocks ? std::optional(parseSchedule(*blocks)) : std::nullopt,
          .attention = parseAttention(argument<std::string>(arguments, "attention", "'plain' or 'proportional'")),
          .plain_mean = !argument<bool>(arguments, "weighted", kYesOrNo),
          .inside = argument<bool>(arguments, "inside", kYesOrNo)};
    }
    if (size) options.input_size = Size2{size->first, size->second};
    const auto three = [&](const char* name) {
      return argument<std::optional<std::array<float, 3>>>(arguments, name, "three numbers");
    };
    if (arguments.contains("mean")) {
      options.mean = three("mean");
      options.deviation = three("std");
    }
    if (precision) options.precision = parsePrecision(*precision);
    if (arguments.contains("output")) {
      options.output = parseOutput(argument<std::string>(arguments, "output", "'labels' or 'logits'"));
      options.scores = argument<bool>(arguments, "scores", kYesOrNo);
    }
    options.validate();
  });
  if (options.reduce && !options.reduce->policy.empty()) requireThere(options.reduce->policy);
  return options;
}

/// The Python function of a rule; null: there is none.
using RuleFunction = std::shared_ptr<nb::object>;

RuleFunction ruleOf(const nb::dict& arguments) {
  if (!arguments.contains("rule")) return nullptr;
  nb::object function = arguments["rule"];
  if (PyCallable_Check(function.ptr()) == 0)
    throw ArgumentError("a rule is a function of rows, sizes and info, got " + shown(function));
  return std::make_shared<nb::object>(std::move(function));
}

/// A rule of merging that is a Python function. Its exceptions pass through OpenCV to the caller.
MergeFunction mergeFunction(const RuleFunction& held) {
  return [held](const RuleInput& input) {
    const nb::gil_scoped_acquire gil;
    const std::size_t count = input.sizes.size();
    const auto array = [](auto values, const std::vector<std::size_t>& shape) {
      return toArray(std::vector(values.begin(), values.end()), shape);
    };
    const std::size_t pixels = static_cast<std::size_t>(input.image_size.height) * input.image_size.width;
    nb::object keys = nb::none();
    if (!input.keys.empty()) keys = nb::cast(array(input.keys, {count, input.keys.size() / count}));
    const nb::object info = nb::module_::import_("mpm").attr("RuleInfo")(
        nb::make_tuple(input.grid.height, input.grid.width), array(input.row_of_patch, {input.row_of_patch.size()}),
        input.block, keys,
        array(input.image, {input.image.size() / pixels, static_cast<std::size_t>(input.image_size.height),
                            static_cast<std::size_t>(input.image_size.width)}));
    const nb::object groups = nb::module_::import_("numpy").attr("asarray")(
        (*held)(array(input.rows, {count, input.rows.size() / count}), array(input.sizes, {count}), info));
    const nb::object shape = groups.attr("shape"), type = groups.attr("dtype");
    const auto kind = nb::cast<std::string>(type.attr("kind"));
    if ((kind != "i" && kind != "u") || !shape.equal(nb::make_tuple(count))) {
      throw Error("a rule returns an integer for each of its " + std::to_string(count) + " rows, got shape " +
                  nb::str(nb::handle(shape)).c_str() + " of " + nb::str(nb::handle(type)).c_str());
    }
    using Groups = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto numbers = nb::cast<Groups>(groups.attr("astype")("int64"));
    return std::vector<std::int64_t>(numbers.data(), numbers.data() + count);
  };
}

/// Sets what is said of the conversion of any model.
template <typename Options>
void takeConvert(Options& options, const ConvertOptions& convert) {
  std::tie(options.reduce, options.input_size, options.mean, options.deviation, options.precision) =
      std::tie(convert.reduce, convert.input_size, convert.mean, convert.deviation, convert.precision);
}

ReadOptions readOptions(const nb::dict& arguments, const RuleFunction& rule) {
  ReadOptions options;
  if (rule) options.rule = mergeFunction(rule);
  const ConvertOptions convert = convertOptions(arguments);
  takeConvert(options, convert);
  options.output = convert.output;
  options.scores = convert.scores;
  options.device = argument<std::string>(arguments, "device", "a text such as 'cpu'");
  ofArguments([&] { options.validate(); });
  return options;
}

EstimatorOptions estimatorOptions(const nb::dict& arguments, const RuleFunction& rule) {
  const auto count = [&](const char* name) { return argument<int>(arguments, name, kWholeNumber); };
  const auto share = [&](const char* name) { return argument<double>(arguments, name, "a number, 0 to 1"); };
  EstimatorOptions options;
  const ReadOptions read = readOptions(arguments, rule);
  takeConvert(options, read.convert());
  options.device = read.device;
  options.rule = read.rule;
  const auto task = argument<std::optional<std::string>>(arguments, "task", "a text such as 'semantic'");
  const auto fit = argument<std::string>(arguments, "fit", "'resize' or 'window'");
  const auto reuse = argument<std::string>(arguments, "reuse", "a text such as 'auto'");
  const auto refine = argument<std::optional<std::string>>(arguments, "refine", "'none' or 'guided'");
  options.window_stride = count("window_stride");
  options.short_side = count("short_side");
  options.min_score = argument<std::optional<double>>(arguments, "min_score", "a number, 0 to 1");
  options.min_overlap = share("min_overlap");
  options.threads = count("threads");
  options.scores = argument<bool>(arguments, "scores", kYesOrNo);
  options.features = argument<bool>(arguments, "features", kYesOrNo);
  if (fit != "resize" && fit != "window") throw ArgumentError("the fit is '" + fit + "'; it can be resize or window");
  options.fit = fit == "window" ? Fit::kWindow : Fit::kResize;
  if (fit == "resize" && (options.window_stride != 0 || options.short_side != 0))
    throw ArgumentError(std::string(options.short_side != 0 ? "short_side" : "window_stride") + " needs fit='window'");
  ofArguments([&] {
    if (task) options.task = parseTask(*task);
    options.reuse = parseReuse(reuse);
    if (refine) options.refine = parseRefine(*refine);
    options.validate();
  });
  return options;
}

/// The JSON that `mpm teach --json` prints at its end.
std::string teach(const nb::dict& arguments) {
  const auto images = argument<std::vector<nb::object>>(arguments, "images", "a sequence of images"),
             labels = argument<std::vector<nb::object>>(arguments, "labels", "a sequence of label maps");
  const nb::object progress = nb::borrow(arguments["progress"]);
  const auto reduce = argument<std::optional<std::string>>(arguments, "reduce", "a text such as 'mpm:blocks=2,5'");
  const auto names = argument<std::vector<std::string>>(arguments, "classes", "the names of two or more classes");
  evaluation::TeachJob job{.model = modelPath(arguments["model"]),
                           .classes = {{}, argument<int>(arguments, "ignore", kWholeNumber)},
                           .output = pathOf(arguments["output_file"], "output_file is the path of a file")};
  requireFolderOf(job.output);
  for (const std::string& name : names) job.classes.classes.push_back({name});
  ofArguments([&] {
    job.classes.validate("classes");
    if (reduce) job.reduce = parseReduction(*reduce);
  });
  if (images.size() != labels.size()) {
    throw ArgumentError("there are " + std::to_string(images.size()) + " images, but " + std::to_string(labels.size()) +
                        " label maps");
  }
  job.pictures = images.size();
  job.picture = [&](std::size_t i) {
    const nb::gil_scoped_acquire gil;
    const vision::LabelledPicture picture{toImage(images[i]), toLabels(labels[i])};
    if (picture.image.size() != picture.labels.size())
      throw ArgumentError("image " + std::to_string(i) + " and its label map differ in size");
    return picture;
  };
  job.cross_validation = argument<bool>(arguments, "cross_validation", kYesOrNo);
  job.steps = argument<int>(arguments, "steps", kWholeNumber);
  job.seed = argument<std::uint64_t>(arguments, "seed", "a whole number that is not negative");
  job.progress = [&](int done, int of) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(static_cast<double>(done) / of);
    return true;
  };
  try {
    return toJson(*withoutGil([&] { return evaluation::teach(job); })).dump();
  } catch (const evaluation::TeachJobError& error) {
    throw ArgumentError(error.what());
  }
}

nb::dict toDict(const ModelInfo& info) {
  nb::dict dict;
  const auto pair = [](Size2 size) { return nb::make_tuple(size.height, size.width); };
  dict["name"] = visibleText(info.facts.name, 400);  // that of the file, which need not be UTF-8
  dict["converted"] = info.converted;
  dict["blocks"] = info.blocks;
  dict["dim"] = info.dim;
  dict["heads"] = info.heads;
  dict["patch"] = pair(info.patch);
  dict["special_tokens"] = info.special_tokens;
  dict["tokens"] = info.tokens();
  dict["input"] = pair(info.input);
  dict["image_channels"] = info.image_channels;
  dict["grid"] = pair(info.grid);
  dict["head"] = toString(info.head);
  dict["task"] = info.task ? nb::object(nb::cast(toString(*info.task))) : nb::none();
  dict["refine"] = toString(info.facts.refine);
  dict["classes"] = info.classes;
  dict["class_names"] = vision::classNames(info);
  dict["ignore"] = info.facts.ignore;
  dict["depth"] = info.task == Task::kDepth ? nb::object(nb::cast(toString(info.facts.depth))) : nb::none();
  dict["channels"] = toString(info.facts.channels);
  dict["mean"] = info.facts.mean;
  dict["std"] = info.facts.deviation;
  dict["assumed"] = info.facts.assumed;
  dict["reduce"] = toString(info.reduction);
  dict["precision"] = toString(info.precision);
  dict["opset"] = info.opset;
  dict["parameters"] = info.parameters;
  dict["outputs"] = info.outputs;
  dict["scores"] = info.scores;
  return dict;
}

nb::dict toDict(const StageTimes& ms) {
  nb::dict dict;
  for (const auto& [name, stage] : evaluation::kStages) dict[name] = ms.*stage;
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

/// The rule of an object of this type; null: it has none, or is not made yet.
template <class T>
RuleFunction ruleIn(PyObject* self) {
  return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->rule() : nullptr;
}

/// Python's garbage collector looks through objects of this type, because the function of a rule may refer to the
/// object that calls it.
template <class T>
PyType_Slot* collectable() {
  constexpr traverseproc traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (const RuleFunction rule = ruleIn<T>(self)) Py_VISIT(rule->ptr());
    return 0;
  };
  constexpr inquiry clear = [](PyObject* self) {
    if (const RuleFunction rule = ruleIn<T>(self)) rule->reset();
    return 0;
  };
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};
  return slots;
}

/// Threads take turns.
class Turns {
 public:
  template <class Work>
  auto take(Work work) {
    if (holder_ == std::this_thread::get_id()) throw Error("a rule cannot use the object that runs it: make another");
    const std::lock_guard lock(mutex_);
    holder_ = std::this_thread::get_id();
    const struct End {
      std::atomic<std::thread::id>& holder;
      ~End() { holder = std::thread::id(); }
    } end{holder_};
    return work();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> holder_{};
};

/// An Estimator that several threads may call; they take turns.
class LockedEstimator {
 public:
  explicit LockedEstimator(const nb::dict& arguments)
      : rgb_(ofArguments([&] {
          return parseChannelOrder(argument<std::string>(arguments, "channels", "'BGR' or 'RGB'")) ==
                 ChannelOrder::kRgb;
        })) {
    const EstimatorOptions options = estimatorOptions(arguments, rule_ = ruleOf(arguments));
    reuses_ = options.reuse.on;
    const std::string model = modelPath(arguments["model"]);
    estimator_ = withoutGil([&] { return std::make_unique<Estimator>(model, options); });
    counter_ = [model, convert = options.convert()] {
      return evaluation::FlopCounter(convertModel(model, convert).bytes);
    };
  }

  const ModelInfo& model() const { return estimator_->model(); }
  RuleFunction rule() const { return rule_; }

  /// The fields of mpm.Estimate; segments are tuples of id, label, score, area, box.
  nb::tuple estimate(nb::handle array, nb::handle chosen) {
    std::optional<std::vector<int>> patches;
    cv::Mat image;
    try {
      patches = valueOf<std::optional<std::vector<int>>>(chosen, "patches", "a list of whole numbers");
      if (patches) ofArguments([&] { requirePatches(*patches, model().tokens(), reuses_); });
      image = toImage(array);
    } catch (...) {
      reset();  // as Estimator::estimate() does after an error
      throw;
    }
    Estimate result = withoutGil([&] {
      cv::Mat bgr;  // never the caller's memory
      if (rgb_) cv::cvtColor(image, bgr, cv::COLOR_RGB2BGR);
      return turns_.take([&] { return estimator_->estimate(rgb_ ? bgr : image, {}, patches); });
    });
    nb::list segments;
    for (const Segment& one : result.segments) {
      nb::object box = nb::none();
      if (one.box) box = nb::make_tuple(one.box->x, one.box->y, one.box->br().x, one.box->br().y);
      segments.append(nb::make_tuple(one.id, one.label, one.score, one.area, box));
    }
    const std::size_t insertions = result.cluster_of_token.size();
    const auto tokens = static_cast<std::size_t>(model().tokens());
    std::vector<std::int32_t> maps;
    maps.reserve(insertions * tokens);
    for (const std::vector<int>& map : result.cluster_of_token) maps.insert(maps.end(), map.begin(), map.end());
    const auto whole = [](const std::vector<double>& counts) {
      std::vector<long> rounded(counts.size());
      std::transform(counts.begin(), counts.end(), rounded.begin(), [](double n) { return std::lround(n); });
      return nb::tuple(nb::cast(rounded));
    };
    nb::list windows;
    for (const std::vector<double>& counts : result.window_tokens) windows.append(whole(counts));
    return nb::make_tuple(orNone<std::uint8_t>(std::move(result.labels)), orNone<std::uint16_t>(std::move(result.ids)),
                          segments, orNone<float>(std::move(result.depth)),
                          nb::make_tuple(result.grid.height, result.grid.width), whole(result.tokens),
                          nb::tuple(windows), toArray(std::move(maps), {insertions, tokens}), toDict(result.ms),
                          result.reuse ? nb::object(toDict(*result.reuse)) : nb::none(),
                          orNone<float>(std::move(result.scores)), orNone<float>(std::move(result.features)));
  }

  double gflop(const std::vector<double>& tokens) {
    return withoutGil([&] {
      return turns_.take([&] {
        if (!flops_) flops_ = counter_();
        return flops_->count(tokens) / 1e9;
      });
    });
  }

  void reset() {
    withoutGil([&] { turns_.take([&] { estimator_->reset(); }); });
  }

 private:
  template <class T>
  static nb::object orNone(cv::Mat&& map) {
    return map.empty() ? nb::none() : nb::cast(toArray<T>(std::move(map)));
  }

  bool rgb_, reuses_ = false;
  RuleFunction rule_;
  std::unique_ptr<Estimator> estimator_;
  std::function<evaluation::FlopCounter()> counter_;  // converts the model again, so only for those who ask
  std::optional<evaluation::FlopCounter> flops_;
  Turns turns_;
};

/// A cv::dnn::Net that several threads may call; they take turns.
class LockedNet {
 public:
  explicit LockedNet(const nb::dict& arguments) {
    ReadOptions options = readOptions(arguments, rule_ = ruleOf(arguments));
    options.outputs = argument<std::vector<std::string>>(arguments, "outputs", "a list of names");
    const std::string model = modelPath(arguments["model"]);
    loaded_ = withoutGil([&] { return readNet(model, options); });
    outputs_ = options.outputs;
    if (!outputs_.empty()) return;
    outputs_ = loaded_.info.outputs;
    if (options.scores && loaded_.info.hasPixelClasses()) outputs_.emplace_back("scores");
    outputs_.insert(outputs_.end(), {"merge_map", "token_counts"});
  }

  /// All outputs, in the order of outputs().
  std::vector<Array<float>> forward(nb::handle array) {
    const Size2 size = loaded_.info.input;
    const int channels = loaded_.info.image_channels;
    const std::string what = "the input of this net is an array (batch, " + std::to_string(channels) + ", " +
                             std::to_string(size.height) + ", " + std::to_string(size.width) + ") of float32";
    const cv::Mat input = toMat<float>(array, 4, 1, what);
    if (input.size[0] < 1 || input.size[1] != channels || input.size[2] != size.height || input.size[3] != size.width)
      throw ArgumentError(what + ", got " + describe(nb::cast<Input>(array)));
    const auto forward = [&] {
      loaded_.net.setInput(input);
      std::vector<cv::Mat> found(outputs_.size());
      given_.resize(outputs_.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        for (cv::Mat& mat : given_[i])
          if (isAlone(mat)) found[i] = std::move(mat);
        std::erase_if(given_[i], [](const cv::Mat& mat) { return mat.empty(); });
      }
      try {
        loaded_.net.forward(found, std::vector<cv::String>(outputs_.begin(), outputs_.end()));
      } catch (const cv::Exception& error) {
        throw Error(forwardError(loaded_.net, {input.size.p, input.size.p + input.dims}, error));
      }
      for (cv::Mat& blob : found)
        if (!isAlone(blob)) blob = blob.clone();  // the net's own memory: the next forward() writes it
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (given_[i].size() == kGiven) given_[i].erase(given_[i].begin());
        given_[i].push_back(found[i]);
      }
      return found;
    };
    std::vector<cv::Mat> blobs = withoutGil([&] { return turns_.take(forward); });
    std::vector<Array<float>> arrays;
    for (cv::Mat& blob : blobs) arrays.push_back(toArray<float>(std::move(blob)));
    return arrays;
  }

  const std::vector<std::string>& outputs() const { return outputs_; }
  const ModelInfo& model() const { return loaded_.info; }
  RuleFunction rule() const { return rule_; }

 private:
  RuleFunction rule_;
  LoadedNet loaded_;
  std::vector<std::string> outputs_;
  /// The last arrays of each output. The next call writes where nobody has the array any more, because new pages for
  /// large outputs take longer than the copy. Two, because a caller has one while it waits for the next.
  static constexpr std::size_t kGiven = 2;
  std::vector<std::vector<cv::Mat>> given_;
  Turns turns_;
};

/// One ai.mpm layer outside of a net, for the layers that register_cv2() gives to another OpenCV.
class LooseLayer {
 public:
  LooseLayer(const std::string& type, const nb::dict& attributes, const nb::sequence& constants) {
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
      else if (std::vector<std::int64_t> list; nb::try_cast(value, list))
        params.set(name, cv::dnn::DictValue::arrayInt(list.data(), static_cast<int>(list.size())));
    }
    for (const nb::handle constant : constants)
      params.blobs.push_back(toMat<float>(constant, 0, 1, "a constant is an array of float32").clone());
    layer_ = withoutGil([&] { return cv::dnn::LayerFactory::createLayerInstance(params.type, params); });
    if (!layer_) throw Error("there is no layer '" + params.type + "'");
  }

  std::vector<std::vector<int>> outputShapes(const std::vector<std::vector<int>>& inputs) const {
    std::vector<opencv::MatShape> in, out, internals;
    for (const std::vector<int>& shape : inputs) in.push_back(opencv::MatShape(shape));
    withoutGil([&] { return layer_->getMemoryShapes(in, 0, out, internals); });
    std::vector<std::vector<int>> shapes;
    for (const opencv::MatShape& shape : out) shapes.emplace_back(shape.begin(), shape.end());
    return shapes;
  }

  std::vector<Array<float>> forward(const nb::sequence& arrays) {
    std::vector<cv::Mat> inputs, outputs, internals;
    std::vector<std::vector<int>> shapes;
    for (const nb::handle array : arrays) {
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

nb::tuple merge(nb::handle array, nb::handle special_tokens) {
  const int special = valueOf<int>(special_tokens, "special", kWholeNumber);
  const cv::Mat tokens = toMat<float>(array, 2, 1, "tokens are an array (special + N, dim) of float32");
  MergedTokens merged = ofArguments([&] {
    return withoutGil(
        [&] { return mutualPairMerge(std::span(tokens.ptr<float>(), tokens.total()), special, tokens.cols); });
  });
  const std::size_t count = merged.map.cluster_of_token.size();
  const auto dim = static_cast<std::size_t>(tokens.cols);
  const std::size_t rows = merged.tokens.size() / std::max<std::size_t>(dim, 1);
  return nb::make_tuple(toArray(std::move(merged.tokens), {rows, dim}),
                        toArray(std::move(merged.map.cluster_of_token), {count}));
}

Array<float> restore(nb::handle array, nb::handle map, nb::handle special_tokens) {
  const int special = valueOf<int>(special_tokens, "special", kWholeNumber);
  const cv::Mat merged = toMat<float>(array, 2, 1, "merged tokens are an array (special + clusters, dim) of float32");
  const cv::Mat ids = toMat<std::int32_t>(map, 1, 1, "a merge map is an array (N,) of int32");
  const auto dim = static_cast<std::size_t>(merged.cols);
  std::vector<float> restored = ofArguments([&] {
    return withoutGil([&] {
      return restoreTokens(std::span(merged.ptr<float>(), merged.total()), special, merged.cols,
                           {{ids.ptr<int>(), ids.ptr<int>() + ids.total()}, merged.rows - special});
    });
  });
  const std::size_t rows = restored.size() / std::max<std::size_t>(dim, 1);
  return toArray(std::move(restored), {rows, dim});
}

Array<std::uint8_t> overlay(nb::handle image, nb::handle labels, nb::handle colors, nb::handle strength) {
  const auto opacity = valueOf<double>(strength, "opacity", "a number, 0 to 1");
  const cv::Mat pixels = toImage(image), classes = toLabels(labels);
  std::vector<cv::Vec3b> palette;
  if (!colors.is_none()) {
    const cv::Mat rows = toMat<std::uint8_t>(colors, 2, 3, "colours are an array (classes, 3) of uint8");
    palette.assign(rows.ptr<cv::Vec3b>(), rows.ptr<cv::Vec3b>() + rows.total());
  } else {
    palette = vision::classColors({}, 256);
  }
  return toArray<std::uint8_t>(ofArguments(
      [&] { return withoutGil([&] { return vision::overlayPicture(pixels, classes, palette, opacity); }); }));
}

/// The Python class of a C++ error. Its text may quote a file or an argument: nothing of it reaches the terminal as a
/// control character.
template <class T>
nb::object exception(nb::module_& module, const char* name, nb::handle base, const char* doc) {
  const nb::exception<T> made(module, name, base);
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const T& error) {
          PyErr_SetString(static_cast<PyObject*>(type), visibleText(error.what(), 400).c_str());
        }
      },
      made.ptr());
  made.attr("__doc__") = doc;
  made.attr("__module__") = "mpm";
  return made;
}

int threads_before_fork = 1;

}  // namespace

NB_MODULE(_mpm, module) {
  const nb::object error =
      exception<Error>(module, "Error", PyExc_RuntimeError,
                       "An error of this package: one line that names the problem and says what to do.");
  exception<ArgumentError>(module, "ArgumentError", nb::make_tuple(error, nb::handle(PyExc_ValueError)),
                           "An Error and a ValueError: a wrong argument. What a model cannot do is a plain Error.");
  exception<FileError>(module, "FileError", nb::make_tuple(error, nb::handle(PyExc_FileNotFoundError)),
                       "An Error and a FileNotFoundError.");
  nb::set_leak_warnings(false);  // cv2 keeps the layers of register_cv2() until the process ends
  module.attr("__version__") = MPM_VERSION;
  module.attr("opencv_version") = CV_VERSION;
  module.attr("operators") = operatorNames();

  nb::class_<LockedEstimator>(module, "Estimator", nb::type_slots(collectable<LockedEstimator>()))
      .def(nb::init<const nb::dict&>())
      .def("estimate", &LockedEstimator::estimate, "image"_a.none(), "patches"_a.none())
      .def("gflop", &LockedEstimator::gflop, "tokens"_a)
      .def("reset", &LockedEstimator::reset)
      .def_prop_ro("info", [](const LockedEstimator& self) { return toDict(self.model()); })
      .def_prop_ro(
          "colors", [](const LockedEstimator& self) { return colorsOf(self.model()); }, nb::rv_policy::move);

  nb::class_<LockedNet>(module, "Net", nb::type_slots(collectable<LockedNet>()))
      .def(nb::init<const nb::dict&>())
      .def("forward", &LockedNet::forward, "array"_a.none())
      .def_prop_ro("outputs", &LockedNet::outputs)
      .def_prop_ro("info", [](const LockedNet& self) { return toDict(self.model()); });

  nb::class_<LooseLayer>(module, "Layer")
      .def(nb::init<const std::string&, const nb::dict&, const nb::sequence&>())
      .def("output_shapes", &LooseLayer::outputShapes)
      .def("forward", &LooseLayer::forward);

  nb::class_<evaluation::ConfusionMatrix>(module, "ConfusionMatrix")
      .def(
          "__init__",
          [](evaluation::ConfusionMatrix* self, nb::handle classes, nb::handle ignore) {
            const int count = valueOf<int>(classes, "classes", kWholeNumber);
            const int ignored = valueOf<int>(ignore, "ignore", kWholeNumber);
            ofArguments([&] { new (self) evaluation::ConfusionMatrix(count, ignored); });
          },
          "classes"_a.none(), "ignore"_a.none())
      .def(
          "add",
          [](evaluation::ConfusionMatrix& self, nb::handle truth, nb::handle prediction) {
            ofArguments([&] { self.add(toLabels(truth), toLabels(prediction)); });
          },
          "truth"_a.none(), "prediction"_a.none())
      .def_prop_ro("iou", &evaluation::ConfusionMatrix::iou)
      .def_prop_ro("mean_iou", &evaluation::ConfusionMatrix::meanIou)
      .def_prop_ro("pixel_accuracy", &evaluation::ConfusionMatrix::pixelAccuracy)
      .def("count", &evaluation::ConfusionMatrix::count);

  module.def("convert", [](const nb::dict& arguments) {
    if (arguments.contains("rule")) throw ArgumentError("a rule is a function of a program, which no file holds");
    const ConvertOptions options = convertOptions(arguments);
    const std::string model = modelPath(arguments["model"]);
    const std::string to = pathOf(arguments["output_file"], "output_file is the path of a file");
    requireFolderOf(to);
    for (const std::string& file : modelFiles(model))
      if (sameFile(file, to)) throw ArgumentError("'" + to + "' is the model or a part of it: name another file");
    return toDict(withoutGil([&] { return convertFile(model, to, options); }));
  });
  module.def(
      "info",
      [](nb::handle model) {
        const std::string path = modelPath(model);
        return toDict(withoutGil([&] { return readModelInfo(path); }));
      },
      "model"_a.none());
  module.def("teach", &teach);
  module.def("merge", &merge, "tokens"_a.none(), "special"_a.none());
  module.def("restore", &restore, "merged"_a.none(), "map"_a.none(), "special"_a.none());
  module.def("overlay", &overlay, "image"_a.none(), "labels"_a.none(), "colors"_a.none(), "opacity"_a.none());
  // Threads of OpenCV's pool do not survive fork(): they end before it, and a child computes with one thread.
  module.def("before_fork", [] {
    const nb::gil_scoped_release release;
    Gate::instance().close();
    threads_before_fork = cv::getNumThreads();
    cv::setNumThreads(1);
  });
  module.def("after_fork_in_parent", [] {
    cv::setNumThreads(threads_before_fork);
    Gate::instance().open();
  });
  module.def("after_fork_in_child", [] { Gate::instance().renew(); });
  module.def(
      "at_exit", [] { Gate::instance().close(); }, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace mpm::python
