// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <torch/version.h>
#include <cmath>

namespace mpm::train {
namespace {

struct Forward {
  const NetworkConfig& config;
  const Weights& weights;
  at::ScalarType matmul;

  const at::Tensor& weight(const std::string& name) const { return weights.at(name); }

  at::Tensor linear(const at::Tensor& x, const std::string& name) const {
    return at::linear(x.to(matmul), weight(name + ".weight").to(matmul), weight(name + ".bias").to(matmul));
  }

  at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    const at::Tensor& scale = weight(name + ".weight");
    return at::layer_norm(x.to(at::kFloat), scale.sizes(), scale, weight(name + ".bias"), kNormEpsilon);
  }

  // {batch, heads, tokens, head_dim} each.
  at::Tensor mix(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
#if TORCH_VERSION_MAJOR >= 2
    // On a CPU the fused kernel computes in float32 and its backward pass is slow: in bf16 plain products take
    // less than half its time, for memory.
    if (!q.is_cpu() || matmul != at::kBFloat16) return at::scaled_dot_product_attention(q, k, v);
#endif
    const double scale = 1 / std::sqrt(static_cast<double>(NetworkConfig::kHeadDim));
    const at::Tensor weights_of_keys = at::bmm(q.flatten(0, 1) * scale, k.flatten(0, 1).transpose(1, 2)).softmax(-1);
    return at::bmm(weights_of_keys, v.flatten(0, 1)).view_as(q);
  }

  at::Tensor attention(const at::Tensor& x, const std::string& name) const {
    const auto batch = x.size(0), tokens = x.size(1);
    const at::Tensor qkv = linear(x, name + ".qkv")
                               .reshape({batch, tokens, 3, config.heads(), NetworkConfig::kHeadDim})
                               .permute({2, 0, 3, 1, 4});
    return linear(mix(qkv[0], qkv[1], qkv[2]).transpose(1, 2).reshape({batch, tokens, config.dim}), name + ".proj");
  }

  at::Tensor mlp(const at::Tensor& x, const std::string& name) const {
    return linear(at::gelu(linear(x, name + ".fc1")), name + ".fc2");
  }

  at::Tensor block(at::Tensor x, const std::string& name) const {
    x = x + attention(norm(x, name + ".norm1"), name + ".attn");
    return x + mlp(norm(x, name + ".norm2"), name + ".mlp");
  }

  at::Tensor encoder(const at::Tensor& images) const {
    at::Tensor x = at::conv2d(images.to(matmul), weight("encoder.patch_embed.proj.weight").to(matmul),
                              weight("encoder.patch_embed.proj.bias").to(matmul), NetworkConfig::kPatch)
                       .to(at::kFloat);
    x = x.flatten(2).transpose(1, 2);
    x = at::cat({weight("encoder.cls_token").expand({x.size(0), 1, config.dim}), x}, 1);
    x = x + weight("encoder.pos_embed");
    for (int i = 0; i < config.blocks; ++i) x = block(x, "encoder.blocks." + std::to_string(i));
    return norm(x, "encoder.norm").narrow(1, 1, config.tokens());
  }

  at::Tensor unitRows(const at::Tensor& x) const { return x / x.norm(2, -1, true).clamp_min(1e-12); }

  at::Tensor decoder(const at::Tensor& patches) const {
    at::Tensor x = linear(patches, "decoder.proj_dec").to(at::kFloat);
    x = at::cat({x, weight("decoder.cls_emb").expand({x.size(0), config.classes, config.dim})}, 1);
    for (int i = 0; i < config.decoder_blocks; ++i) x = block(x, "decoder.blocks." + std::to_string(i));
    x = norm(x, "decoder.decoder_norm");
    const at::Tensor rows = at::matmul(x.narrow(1, 0, config.tokens()), weight("decoder.proj_patch"));
    const at::Tensor classes = at::matmul(x.narrow(1, config.tokens(), config.classes), weight("decoder.proj_classes"));
    const at::Tensor masks = at::matmul(unitRows(rows), unitRows(classes).transpose(1, 2));
    return norm(masks, "decoder.mask_norm").transpose(1, 2);
  }
};

}  // namespace

at::Tensor scores(const NetworkConfig& config, const at::Tensor& images, const Weights& weights,
                  at::ScalarType matmul) {
  const Forward forward{config, weights, matmul};
  const Size2 grid = config.grid();
  return forward.decoder(forward.encoder(images)).reshape({images.size(0), config.classes, grid.height, grid.width});
}

}  // namespace mpm::train
