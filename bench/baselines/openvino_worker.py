# SPDX-License-Identifier: Apache-2.0
"""OpenVINO on the CPU, in latency mode. An argmax is added to a graph that returns logits. In int8, NNCF quantises with
its preset for transformers and the first image as calibration, and what it leaves is bf16 where that is fast."""

import openvino
import openvino.opset13 as ops

import worker


def load(arguments):
    if arguments.precision == "bf16" and not worker.has_bf16():
        raise worker.Refused("this CPU has neither AVX512-BF16 nor AMX: OpenVINO would emulate bf16")
    core = openvino.Core()
    model = core.read_model(arguments.model)
    output = model.output(0)
    if output.get_element_type() == openvino.Type.f32 and output.get_partial_shape().rank.get_length() == 4:
        # topk keeps the axis: {B, 1, H, W}
        labels = ops.topk(output.get_node().input_value(0), ops.constant(1), 1, "max", "none", index_element_type="i32")
        model = openvino.Model([labels.output(1)], model.get_parameters(), "labels")
    bf16 = arguments.precision == "bf16" or (arguments.precision == "int8" and worker.has_fast_bf16())
    settings = {
        openvino.properties.hint.inference_precision: openvino.Type.bf16 if bf16 else openvino.Type.f32,
        openvino.properties.hint.performance_mode: openvino.properties.hint.PerformanceMode.LATENCY,
        openvino.properties.inference_num_threads: arguments.threads,
        openvino.properties.num_streams: 1,
    }
    if arguments.precision == "int8":
        import nncf
    request = None

    def run(image):
        nonlocal model, request
        if request is None:  # in the warm-up
            if arguments.precision == "int8":
                model = nncf.quantize(model, nncf.Dataset([image]), subset_size=1, model_type=nncf.ModelType.TRANSFORMER)
            request = core.compile_model(model, "CPU", settings).create_infer_request()
        request.infer({0: image}, share_inputs=True)
        return request.get_output_tensor(0).data

    return openvino.__version__, run


if __name__ == "__main__":
    worker.serve("OpenVINO", load)
