// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <torch/version.h>
#include <cmath>

namespace mpm::train {
namespace {

struct Forward {
  const NetworkConfig& config;
  const Network::Weights& weights;
  Network::Mode mode;
  at::Tensor cosines, sines;

  const at::Tensor& weight(const std::string& name) const { return weights.at(name); }

  at::Tensor linear(const at::Tensor& x, const std::string& name) const {
    return at::linear(x.to(mode.matmul), weight(name + ".weight").to(mode.matmul),
                      weight(name + ".bias").to(mode.matmul));
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
    if (!q.is_cpu() || mode.matmul != at::kBFloat16) return at::scaled_dot_product_attention(q, k, v);
#endif
    const double scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
    const at::Tensor weights_of_keys = at::bmm(q.flatten(0, 1) * scale, k.flatten(0, 1).transpose(1, 2)).softmax(-1);
    return at::bmm(weights_of_keys, v.flatten(0, 1)).view_as(q);
  }

  // Rows of q or k {batch, heads, 1 + tokens, head_dim}; the class token, at no place, stays as it is.
  at::Tensor rotated(const at::Tensor& rows) const {
    const at::Tensor x = rows.narrow(2, 1, config.tokens()).to(at::kFloat);
    const auto halves = x.chunk(2, -1);
    const at::Tensor turned = x * cosines + at::cat({-halves[1], halves[0]}, -1) * sines;
    return at::cat({rows.narrow(2, 0, 1), turned.to(rows.scalar_type())}, 2);
  }

  enum class Rotate { kNo, kYes };

  at::Tensor attention(const at::Tensor& x, const std::string& name, Rotate rotate) const {
    const auto batch = x.size(0), tokens = x.size(1);
    const at::Tensor qkv =
        linear(x, name + ".qkv").reshape({batch, tokens, 3, config.heads(), config.head_dim}).permute({2, 0, 3, 1, 4});
    const at::Tensor mixed =
        rotate == Rotate::kYes ? mix(rotated(qkv[0]), rotated(qkv[1]), qkv[2]) : mix(qkv[0], qkv[1], qkv[2]);
    return linear(mixed.transpose(1, 2).reshape({batch, tokens, config.dim}), name + ".proj");
  }

  at::Tensor mlp(const at::Tensor& x, const std::string& name) const {
    return linear(at::gelu(linear(x, name + ".fc1")), name + ".fc2");
  }

  // x plus a branch that is left out for some images, the more the deeper (stochastic depth).
  at::Tensor residual(const at::Tensor& x, const at::Tensor& branch, double drop) const {
    if (drop <= 0) return x + branch;
    const at::Tensor keep = at::rand({x.size(0), 1, 1}, x.options()) >= drop;
    return x + branch * (keep.to(x.scalar_type()) / (1 - drop));
  }

  at::Tensor block(at::Tensor x, const std::string& name, double drop, Rotate rotate = Rotate::kNo) const {
    x = residual(x, attention(norm(x, name + ".norm1"), name + ".attn", rotate), drop);
    return residual(x, mlp(norm(x, name + ".norm2"), name + ".mlp"), drop);
  }

  at::Tensor encoder(const at::Tensor& images) const {
    at::Tensor x = at::conv2d(images.to(mode.matmul), weight("encoder.patch_embed.proj.weight").to(mode.matmul),
                              weight("encoder.patch_embed.proj.bias").to(mode.matmul), config.patch)
                       .to(at::kFloat);
    x = x.flatten(2).transpose(1, 2);
    x = at::cat({weight("encoder.cls_token").expand({x.size(0), 1, config.dim}), x}, 1);
    const bool rotary = config.positions == Positions::kRotary;
    if (!rotary) x = x + weight("encoder.pos_embed");
    for (int i = 0; i < config.blocks; ++i)
      x = block(x, "encoder.blocks." + std::to_string(i), mode.drop_path * i / std::max(1, config.blocks - 1),
                rotary ? Rotate::kYes : Rotate::kNo);
    return norm(x, "encoder.norm").narrow(1, 1, config.tokens());
  }

  at::Tensor unitRows(const at::Tensor& x) const { return x / x.norm(2, -1, true).clamp_min(1e-12); }

  at::Tensor decoder(const at::Tensor& patches) const {
    at::Tensor x = linear(patches, "decoder.proj_dec").to(at::kFloat);
    x = at::cat({x, weight("decoder.cls_emb").expand({x.size(0), config.classes, config.dim})}, 1);
    for (int i = 0; i < config.decoder_blocks; ++i) x = block(x, "decoder.blocks." + std::to_string(i), mode.drop_path);
    x = norm(x, "decoder.decoder_norm");
    const at::Tensor rows = at::matmul(x.narrow(1, 0, config.tokens()), weight("decoder.proj_patch"));
    const at::Tensor classes = at::matmul(x.narrow(1, config.tokens(), config.classes), weight("decoder.proj_classes"));
    const at::Tensor masks = at::matmul(unitRows(rows), unitRows(classes).transpose(1, 2));
    return norm(masks, "decoder.mask_norm").transpose(1, 2);
  }
};

}  // namespace

Network::Network(const NetworkConfig& config) : config_(config) {
  if (config.positions != Positions::kRotary) return;
  RotaryTable table = rotaryTable(config);
  const auto tensor = [&](std::vector<float>& values) {
    return at::from_blob(values.data(), {config.tokens(), config.head_dim}, at::kFloat).clone();
  };
  cosines_ = tensor(table.cosines);
  sines_ = tensor(table.sines);
}

at::Tensor Network::operator()(const at::Tensor& images, const Weights& weights, Mode mode) const {
  Forward forward{config_, weights, mode, cosines_, sines_};
  if (cosines_.defined()) {
    forward.cosines = cosines_.to(images.device());
    forward.sines = sines_.to(images.device());
  }
  const Size2 grid = config_.grid();
  return forward.decoder(forward.encoder(images)).reshape({images.size(0), config_.classes, grid.height, grid.width});
}

}  // namespace mpm::train
