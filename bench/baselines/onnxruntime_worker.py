# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime on the CPU. An ArgMax is added to a graph that returns logits, so that no run copies them. In int8 the
weights of matrix products have a scale per channel, and activations are quantised as they are met, one scale per tensor."""

import os
import tempfile

import onnx
import onnxruntime

import worker


def with_argmax(path):
    """The bytes of the changed model, or the path if the graph already returns labels or features."""
    model = onnx.load(path, load_external_data=False)
    output = model.graph.output[0]
    kind = output.type.tensor_type
    if kind.elem_type != onnx.TensorProto.FLOAT or len(kind.shape.dim) != 4:
        return path
    model = onnx.load(path)
    logits = output.name
    model.graph.node.append(onnx.helper.make_node("ArgMax", [logits], ["mpm_baseline_labels"], axis=1, keepdims=0))
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_tensor_value_info("mpm_baseline_labels", onnx.TensorProto.INT64, None))
    return model.SerializeToString()


def quantised(model):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory(prefix="mpm_baseline_") as folder:
        source, result = os.path.join(folder, "source.onnx"), os.path.join(folder, "int8.onnx")
        onnx.save(onnx.load(model) if isinstance(model, str) else onnx.load_from_string(model), source)
        quantize_dynamic(source, result, op_types_to_quantize=["MatMul", "Gemm"], per_channel=True,
                         weight_type=QuantType.QInt8)
        with open(result, "rb") as file:
            return file.read()


def load(arguments):
    if arguments.precision == "bf16":
        raise worker.Refused("ONNX Runtime's CPU provider has no bf16 path for a float32 model")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    # Threads spin between operators by default, which is fastest. Between runs they must not spin, or they would slow
    # down the next variant.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    model = with_argmax(arguments.model)
    if arguments.precision == "int8":
        model = quantised(model)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    image, output = session.get_inputs()[0].name, session.get_outputs()[0].name
    return onnxruntime.__version__, lambda x: session.run([output], {image: x})[0]


if __name__ == "__main__":
    worker.serve("ONNX Runtime", load)
