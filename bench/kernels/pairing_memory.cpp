// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <random>
#include <vector>

#include "kernels/threads.h"
#include "merging/merge_tokens.h"

namespace {

double peakMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Growth of the process in its first MPM call. Run it alone (--benchmark_filter), because the process keeps its
/// memory.
void pairingMemory(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0)), dim = static_cast<int>(state.range(1));
  const auto values = static_cast<std::size_t>(n) * static_cast<std::size_t>(dim);
  std::vector<float> tokens(values), merged(values, 1.f);
  std::vector<float> before(mpm::TokenState<float>::size(n)), after(before.size(), 1.f);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float& value : tokens) value = normal(random);
  mpm::resetState({before.data(), n});
  const mpm::test::Threads parallel(2);
  double grown = 0;
  for (auto _ : state) {
    const double start = peakMiB();
    if (!mpm::mergeTokens({}, {tokens.data(), n, dim}, 0, {before.data(), n}, {merged.data(), n, dim},
                          {after.data(), n}, parallel)) {
      state.SkipWithError("not finite");
    }
    grown = peakMiB() - start;
  }
  state.counters["MiB"] = grown;
}

BENCHMARK(pairingMemory)->Name("PairingMemory")->Args({9216, 768})->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
