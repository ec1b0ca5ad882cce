// SPDX-License-Identifier: Apache-2.0
#include "kernels/instruction_set.h"

#include "kernels/cpu/highway_targets.h"
// Must follow the choice of targets.
#include <hwy/highway.h>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "mpm/error.hpp"

namespace mpm {
namespace {

struct InstructionSet {
  std::int64_t target;
  std::string name;
};

std::string nameOf(std::int64_t target) {
  if (target == HWY_AVX3) return "avx512";
  if (target == HWY_AVX2) return "avx2";
  if (target == HWY_SSE4) return "sse4";
  return HWY_ARCH_ARM_A64 ? "neon" : "scalar";
}

// AVX2 and the products of int8 in 256 bits that CPUs without AVX-512 have.
bool hasAvxVnni() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & 16u) != 0;
#else
  return false;
#endif
}

// Products of bf16 and int8 in tiles, which Linux lets a process use once it has asked. It refuses where a thread has a
// stack for signals that is too small for the tiles.
bool hasAmx() {
#if defined(__x86_64__) && defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kTiles = 1u << 24, kInt8 = 1u << 25, kBf16 = 1u << 22, kWanted = kTiles | kInt8 | kBf16;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kWanted) != kWanted) return false;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM since Linux 5.16
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// Called once, before a target is forced: afterwards Highway returns the forced one.
const std::vector<InstructionSet>& all() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> found;
    if (HWY_TARGETS == HWY_STATIC_TARGET)
      return std::vector{InstructionSet{HWY_STATIC_TARGET, nameOf(HWY_STATIC_TARGET)}};
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      if (target == HWY_AVX3 && hasAmx()) found.push_back({target, "amx"});
      if (target == HWY_AVX2 && hasAvxVnni()) found.push_back({target, "avx_vnni"});
      found.push_back({target, nameOf(target)});
    }
    return found;
  }();
  return sets;
}

std::string& current() {
  static std::string name = all().front().name;
  return name;
}

bool force(const std::string& name) {
  const auto found = std::find_if(all().begin(), all().end(), [&](const auto& set) { return set.name == name; });
  if (found == all().end()) return false;
  hwy::SetSupportedTargetsForTest(found->target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  current() = name;
  return true;
}

[[maybe_unused]] const bool forced_by_environment = [] {
  const char* name = std::getenv("MPM_INSTRUCTION_SET");
  return name != nullptr && force(name);
}();

}  // namespace

std::vector<std::string> availableInstructionSets() {
  std::vector<std::string> names;
  for (const InstructionSet& set : all()) names.push_back(set.name);
  return names;
}

std::string instructionSet() { return current(); }

void setInstructionSet(const std::string& name) {
  if (force(name)) return;
  std::string names;
  for (const InstructionSet& set : all()) names += (names.empty() ? "" : ", ") + set.name;
  throw Error("instruction set '" + name + "' is not available here; there is " + names);
}

bool cpuHasAvx512Bf16() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
#else
  return false;
#endif
}

bool cpuHasFastAvx512Bf16() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kFp16 = 1u << 23;
  const bool has_fp16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kFp16) != 0;
  return cpuHasAvx512Bf16() && !(__builtin_cpu_is("intel") && has_fp16);
#else
  return false;
#endif
}

}  // namespace mpm
