# SPDX-License-Identifier: Apache-2.0
"""OpenVINO on the CPU, in latency mode. An argmax is added to a graph that returns logits."""

import openvino
import openvino.opset13 as ops

import worker


def main():
    arguments = worker.parse_arguments()

    def load():
        if arguments.schedule:
            raise worker.Refused("OpenVINO cannot merge tokens")
        if arguments.precision == "bf16" and not worker.cpu_flags() & {"avx512_bf16", "amx_bf16"}:
            raise worker.Refused("this CPU has neither AVX512-BF16 nor AMX: OpenVINO would emulate bf16")
        core = openvino.Core()
        model = core.read_model(arguments.model)
        output = model.output(0)
        if output.get_element_type() == openvino.Type.f32 and output.get_partial_shape().rank.get_length() == 4:
            # topk keeps the axis: {B, 1, H, W}
            labels = ops.topk(output.get_node().input_value(0), ops.constant(1), 1, "max", "none", index_element_type="i32")
            model = openvino.Model([labels.output(1)], model.get_parameters(), "labels")
        precision = {"fp32": openvino.Type.f32, "bf16": openvino.Type.bf16}[arguments.precision]
        compiled = core.compile_model(model, "CPU", {
            openvino.properties.hint.inference_precision: precision,
            openvino.properties.hint.performance_mode: openvino.properties.hint.PerformanceMode.LATENCY,
            openvino.properties.inference_num_threads: arguments.threads,
            openvino.properties.num_streams: 1,
        })
        request = compiled.create_infer_request()

        def run(image):
            request.infer({0: image}, share_inputs=True)
            return request.get_output_tensor(0).data

        return openvino.__version__, run

    worker.serve(load, arguments.precision)


if __name__ == "__main__":
    main()
