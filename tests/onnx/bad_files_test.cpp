// SPDX-License-Identifier: Apache-2.0
// Files that are no model, or a broken one: one clear line each, no crash.

#include "mpm/mpm.hpp"
#include "onnx/model/model_file.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

class BadFile : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
  ConvertOptions options;

  BadFile() { options.reduce = kFullModel; }

  void write(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  std::string goodBytes() { return TinyVit(Dialect{}).graph().model().SerializeAsString(); }
  /// With weights in another file: `value` in place of the location, offset or length of those of `patch.b`.
  void writeExternal(int entry = 0, const char* value = "external.data") {
    GraphBuilder builder = TinyVit({.storage = Storage::kExternal}).graph();
    itemNamed(builder.model().mutable_graph()->mutable_initializer(), "patch.b")
        .mutable_external_data(entry)
        ->set_value(value);
    builder.save(path);
  }
  void expectError(const std::string& part) {
    EXPECT_MPM_ERROR(convertModel(path, options), part);
    EXPECT_MPM_ERROR(readModelInfo(path, options), part);
    EXPECT_MPM_ERROR(convertModel(path, options), path);
  }
};

TEST_F(BadFile, NoModelAtAll) {
  expectError("no such file");
  write("");
  expectError("the file is empty");
  fs::resize_file(path, std::uintmax_t{1} << 32);
  expectError("the file is larger than 2 GiB");
  write("This is not a model.\n");
  expectError("not an ONNX model");
  path = folder_.path();
  expectError("it is a folder");
}

TEST_F(BadFile, CutOffAnywhere) {
  const std::string bytes = goodBytes();
  for (std::size_t missing = 1; missing < bytes.size(); missing = missing * 5 / 4 + 7) {
    write(bytes.substr(0, bytes.size() - missing));
    EXPECT_MPM_ERROR(convertModel(path, options), "not an ONNX model, or cut off") << missing;
  }
}

TEST_F(BadFile, EveryByteFlipped) {
  // Not every change breaks a model; none may crash the reader.
  const std::string bytes = goodBytes();
  unsigned state = 5;
  for (int i = 0; i < 300; ++i) {
    std::string changed = bytes;
    for (int flips = 0; flips < 3; ++flips) {
      state = state * 1664525u + 1013904223u;
      changed[state % changed.size()] = static_cast<char>(state >> 24);
    }
    write(changed);
    try {
      convertModel(path, options);
    } catch (const Error&) {
    }
  }
}

TEST_F(BadFile, OneChangeToAGoodModel) {
  using Model = onnx::ModelProto;
  const auto at = [](Model & model, const char* name) -> auto& {
    return itemNamed(model.mutable_graph()->mutable_initializer(), name);
  };
  const struct {
    std::string part;
    std::function<void(Model&)> change;
    Storage storage = Storage::kFloat;
  } cases[] = {
      {"holds no graph with nodes", [](Model& m) { m.mutable_graph()->clear_node(); }},
      {"opset 10 found, 11 or later expected", [](Model& m) { m.mutable_opset_import(0)->set_version(10); }},
      {"opset 1001 found", [](Model& m) { m.mutable_opset_import(0)->set_version(1001); }},
      {"names no opset", [](Model& m) { m.clear_opset_import(); }},
      {"initialiser 'block1.fc2.b' holds a NaN or an infinity",
       [&](Model& m) { at(m, "block1.fc2.b").mutable_raw_data()->replace(8, 4, "\x00\x00\xc0\x7f", 4); }},
      {"initialiser 'block0.proj.b' holds a NaN or an infinity",
       [&](Model& m) { at(m, "block0.proj.b").mutable_raw_data()->replace(0, 2, "\x00\x7c", 2); }, Storage::kHalf},
      {"initialiser 'block0.proj.b': 20 bytes found, 96 expected for shape 24",
       [&](Model& m) { at(m, "block0.proj.b").mutable_raw_data()->resize(20); }},
      {"initialiser 'block0.proj.b': 23 values found, 24 expected for shape 24",
       [&](Model& m) { at(m, "block0.proj.b").mutable_float_data()->RemoveLast(); }, Storage::kFloatField},
      {"initialiser 'block0.proj.b': a tensor has the negative side -24",
       [&](Model& m) { at(m, "block0.proj.b").set_dims(0, -24); }},
      {"initialiser 'block0.proj.b': a tensor of shape 1099511627776x1099511627776 is larger than this program takes",
       [&](Model& m) {
         at(m, "block0.proj.b").set_dims(0, std::int64_t{1} << 40);
         at(m, "block0.proj.b").add_dims(std::int64_t{1} << 40);
       }},
      {"tensors of ONNX type 8 are not understood",
       [&](Model& m) { at(m, "block0.proj.b").set_data_type(onnx::TensorProto::STRING); }},
      {"which no earlier node makes",
       [](Model& m) { m.mutable_graph()->mutable_node(3)->set_input(0, m.graph().node(30).output(0)); }},
      {"again", [](Model& m) { m.mutable_graph()->mutable_node(5)->set_output(0, m.graph().node(4).output(0)); }},
      {"graph output 'nothing' is made by no node",
       [](Model& m) { m.mutable_graph()->mutable_output(0)->set_name("nothing"); }},
      {"node 'huge' (ConstantOfShape): folding its constants takes more memory than its weights allow",
       [](Model& m) {
         GraphBuilder builder(m);
         builder.node("ConstantOfShape", {builder.ints({1 << 13, 1 << 13})}, {}, 1, "huge");
         m = builder.model();
       }},
  };
  for (const auto& [part, change, storage] : cases) {
    GraphBuilder builder = TinyVit({.storage = storage}).graph();
    change(builder.model());
    builder.save(path);
    SCOPED_TRACE(part);
    expectError(part);
  }
}

TEST_F(BadFile, ExternalDataMissingOrShort) {
  writeExternal();
  EXPECT_NO_THROW(convertModel(path, options));
  fs::resize_file(folder_ / "external.data", 1000);
  expectError("external.data': it is too short");
  fs::remove(folder_ / "external.data");
  expectError("external.data': no such file");
}

TEST_F(BadFile, ExternalDataElsewhere) {
  for (const char* location : {"../external.data", "/etc/passwd", "sub/../../external.data", ""}) {
    writeExternal(0, location);
    expectError("expected a file in the model's folder");
  }
  const std::tuple<int, const char*, const char*> wrong[] = {{1, "18446744073709551615", "is too short"},
                                                             {1, "12x", "offset '12x', expected a number"},
                                                             {2, "7", "external data of 7 bytes, expected 96"}};
  for (const auto& [entry, value, part] : wrong) {
    writeExternal(entry, value);
    expectError(part);
  }
  onnx::TensorProto tensor;  // of no file, as in a model of mpm-train
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  addExternal(tensor, "location", "external.data");
  EXPECT_MPM_ERROR(onnx_graph::readTensor(tensor, {}, "it"), "external data cannot be read for a model in memory");
}

TEST_F(BadFile, FunctionThatCallsItself) {
  GraphBuilder builder = TinyVit(Dialect{}).graph();
  onnx::FunctionProto& function = addFunction(builder.model(), "Loop", {callOf("Loop")});
  *builder.model().mutable_graph()->add_node() = callOf("Loop", "image");
  builder.save(path);
  expectError("function 'Loop' calls itself");
  function.GetReflection()->MutableUnknownFields(&function)->AddVarint(11, 1);  // attribute_proto
  builder.save(path);
  expectError("function 'Loop': the default of an attribute cannot be read");
}

/// A model whose functions f0, f1, ... call the next one twice each, and the last one holds `innermost`.
onnx::ModelProto twiceAndTwice(const onnx::NodeProto& innermost, int functions) {
  onnx::ModelProto model = TinyVit(Dialect{}).graph().model();
  for (int i = 0; i + 1 < functions; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    addFunction(model, "f" + std::to_string(i), {callOf(next, "x", "t"), callOf(next, "t", "y")});
  }
  addFunction(model, "f" + std::to_string(functions - 1), {innermost}, "x");
  *model.mutable_graph()->add_node() = callOf("f0", "image", "f");
  return model;
}

TEST_F(BadFile, FunctionsThatMultiply) {
  GraphBuilder builder(17);
  builder.node("Constant", {}, {{"value_int", 1L}}, 1, "k");
  onnx::NodeProto constant = builder.model().graph().node(0);
  write(twiceAndTwice(constant, 29).SerializeAsString());  // half a billion calls
  EXPECT_MPM_ERROR(convertModel(path, options), "more than a million nodes");

  constant.set_doc_string(std::string(1 << 20, ' '));
  write(twiceAndTwice(constant, 14).SerializeAsString());  // 8 GiB of copies
  EXPECT_MPM_ERROR(convertModel(path, options), "larger than 1 GiB");
}

TEST_F(BadFile, FunctionWithOverloads) {
  GraphBuilder builder = TinyVit(Dialect{}).graph();
  for (const char* op : {"Tanh", "Sigmoid"}) addFunction(builder.model(), "Bend", {callOf(op, "x", "y", "")});
  builder.save(path);
  expectError("function 'test::Bend' is there twice, and overloads are not understood");
}

// What libFuzzer found (scripts/fuzz.sh).
TEST_F(BadFile, HeadOfUnknownShape) {
  path = std::string(MPM_TEST_DATA_DIR) + "/fuzz/head_of_unknown_shape.onnx";
  expectError("unknown shape");
}

TEST_F(BadFile, Facts) {
  write(goodBytes());
  const std::pair<const char*, const char*> cases[] = {
      {"{", "not valid JSON"},
      {"[1]", "expected an object"},
      {R"({"mean": [0.5, 0.5]})", "mean: found [0.5,0.5], expected three numbers from -1000000 to 1000000"},
      {R"({"mean": [0.5, 0.5, 1e308]})", "mean: found [0.5,0.5,1e+308], expected three numbers from -1000000"},
      {R"({"mean": [0.1, 0.2, 0.3]})", "has \"mean\" without \"std\": give both or none of them"},
      {R"({"std": [0.1, 0.2, 0.3]})", "has \"std\" without \"mean\""},
      {R"({"std": [0.5, 0, 0.5]})", "three numbers from 0.000001 to 1000000"},
      {R"({"input": {"channels": "GRB"}})", "\"RGB\" or \"BGR\""},
      {R"({"classes": [{"name": "sky", "color": "blue"}]})", "a colour such as"},
      {R"({"classes": [{"color": "#0000ff"}]})",
       "classes[0]: found {\"color\":\"#0000ff\"}, expected an object with \"name\""},
      {R"({"onnx_id": "1"})", "was written with another 'model.onnx'"},
      {R"({"ignore": 300})", "ignore: found 300, expected a whole number from 0 to 255"},
  };
  for (const auto& [text, part] : cases) {
    std::ofstream(folder_ / "model.json") << text;
    EXPECT_MPM_ERROR(convertModel(path, options), part);
    EXPECT_MPM_ERROR(convertModel(path, options), folder_ / "model.json");
  }
}

TEST_F(BadFile, JsonNestedTooDeep) {
  for (const std::string& deep : {std::string(500'000, '['), std::string(500'000, '[') + std::string(500'000, ']'),
                                  R"({"mean":)" + std::string(17, '[') + std::string(17, ']') + "}"}) {
    write(goodBytes());
    std::ofstream(folder_ / "model.json") << deep;
    EXPECT_MPM_ERROR(convertModel(path, options), (folder_ / "model.json") + "' is nested too deep");
    fs::remove(folder_ / "model.json");
    onnx::ModelProto model = convertedModel(path, options);
    metadataOf(model, "mpm.info") = deep;
    write(model.SerializeAsString());
    expectError("metadata 'mpm.info' is nested too deep");
  }
}

TEST_F(BadFile, FactsWithAnotherNumberOfClasses) {
  TinyVit({.head = HeadStyle::kLinear}).save(path);
  std::ofstream(folder_ / "model.json") << R"({"classes": [{"name": "sky", "color": "#0000ff"}]})";
  expectError("names 1 classes, the graph has " + std::to_string(TinyVit::kClasses));
}

}  // namespace
}  // namespace mpm::test
