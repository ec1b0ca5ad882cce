// SPDX-License-Identifier: Apache-2.0
// Ubuntu's compilers check by default that longjmp() goes up the stack it is on. The fibers below go to other stacks.
#undef _FORTIFY_SOURCE

#include "kernels/cuda/platform.cuh"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace mpm::cuda::on_host {
namespace {

constexpr int kLanes = 32;
constexpr int kMostThreads = 1024;
constexpr std::size_t kStack = 64 * 1024;

enum class Waiting { kNo, kBlock, kWarp, kDone };

struct AsyncCopy {
  void* to;
  const void* from;
  bool valid;
  void perform() const {
    if (valid)
      std::memcpy(to, from, 16);
    else
      std::memset(to, 0, 16);
  }
};

// One thread's part of a product that has been asked for.
struct OpenProduct {
  WarpgroupProduct asked;
  std::size_t a, b;          // bytes from the beginning of shared memory
  unsigned registers[4][4];  // A of the four lanes of this thread's rows
  void perform() const;
};

// Where a fiber or the scheduler goes on. The functions of ucontext.h ask the kernel for the signal mask each time,
// which would be most of the time of a test; AddressSanitizer does not follow longjmp() between stacks, so there it has
// to be swapcontext().
struct Place {
  ucontext_t context;
  jmp_buf jump;
  bool started = false;
};

struct Fiber {
  Place place;
  std::unique_ptr<unsigned char[]> stack;
  void* sanitizer_stack = nullptr;
  Waiting waiting = Waiting::kNo;
  std::vector<AsyncCopy> open;
  std::deque<std::vector<AsyncCopy>> groups;
  bool unpublished = false;  // copies that the tensor cores do not see yet
  bool products_begun = false;
  std::vector<OpenProduct> products;
};

struct Warp {
  Slots slots[2];
  unsigned generation = 0;
  int arrived = 0;
  Collective operation = Collective::kSyncWarp;
};

struct Machine {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  std::unique_ptr<unsigned char[]> shared;
  Place scheduler;
  void* scheduler_sanitizer_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_size = 0;
  const std::function<void()>* body = nullptr;
  int current = 0;
  unsigned seed = 0;
  std::mt19937 random;
  std::string error;
};

Machine& machine() {
  static Machine instance;
  return instance;
}

[[maybe_unused]] void startSwitch(void** save, const void* stack, std::size_t size) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(save, stack, size);
#else
  (void)save, (void)stack, (void)size;
#endif
}

[[maybe_unused]] void finishSwitch(void* saved, const void** stack, std::size_t* size) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(saved, stack, size);
#else
  (void)saved, (void)stack, (void)size;
#endif
}

void switchPlaces(Place& from, Place& to) {
#ifdef __SANITIZE_ADDRESS__
  swapcontext(&from.context, &to.context);
#else
  if (_setjmp(from.jump) != 0) return;
  if (to.started) _longjmp(to.jump, 1);
  to.started = true;
  setcontext(&to.context);
#endif
}

void toScheduler(Waiting why) {
  Machine& m = machine();
  Fiber& fiber = m.fibers[m.current];
  fiber.waiting = why;
  startSwitch(&fiber.sanitizer_stack, m.scheduler_stack, m.scheduler_stack_size);
  switchPlaces(fiber.place, m.scheduler);
  finishSwitch(fiber.sanitizer_stack, &m.scheduler_stack, &m.scheduler_stack_size);
}

// A thread of one block after the other.
void enterFiber() {
  Machine& m = machine();
  finishSwitch(nullptr, &m.scheduler_stack, &m.scheduler_stack_size);
  while (true) {
    (*m.body)();
    toScheduler(Waiting::kDone);
  }
}

void begin(Fiber& fiber) {
  ucontext_t& context = fiber.place.context;
  fiber.place.started = false;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get();
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, enterFiber, 0);
}

void resume(int index) {
  Machine& m = machine();
  Fiber& fiber = m.fibers[index];
  m.current = index;
  threadIdx = {static_cast<unsigned>(index), 0, 0};
  fiber.waiting = Waiting::kNo;
  startSwitch(&m.scheduler_sanitizer_stack, fiber.stack.get(), kStack);
  switchPlaces(m.scheduler, fiber.place);
  finishSwitch(m.scheduler_sanitizer_stack, nullptr, nullptr);
}

void runBlock(int threads, std::size_t shared_bytes) {
  Machine& m = machine();
  m.shared = std::make_unique_for_overwrite<unsigned char[]>(std::max<std::size_t>(shared_bytes, 1));
  std::memset(m.shared.get(), 0xff, shared_bytes);
  for (auto& warp : m.warps) warp.arrived = 0;
  for (int i = 0; i < threads; ++i) {
    Fiber& fiber = m.fibers[i];
    if (fiber.waiting != Waiting::kDone) begin(fiber);  // it is new, or an error left it in the middle of a block
    fiber.waiting = Waiting::kNo;
    fiber.open.clear();
    fiber.groups.clear();
    fiber.products.clear();
    fiber.unpublished = fiber.products_begun = false;
  }
  std::vector<int> ready(threads);
  std::iota(ready.begin(), ready.end(), 0);
  for (int done = 0; done < threads;) {
    if (m.seed != 0) std::shuffle(ready.begin(), ready.end(), m.random);
    for (const int index : ready) {
      resume(index);
      if (!m.error.empty()) throw std::logic_error(m.error);
      done += m.fibers[index].waiting == Waiting::kDone ? 1 : 0;
    }
    // Threads continue when their collective is complete, or when all threads of the block wait at the block barrier.
    ready.clear();
    int at_barrier = 0;
    for (int i = 0; i < threads; ++i) {
      const Fiber& fiber = m.fibers[i];
      if (fiber.waiting == Waiting::kNo) ready.push_back(i);
      at_barrier += fiber.waiting == Waiting::kBlock ? 1 : 0;
    }
    if (!ready.empty() || done == threads) continue;
    if (at_barrier != threads) {
      throw std::logic_error(std::to_string(at_barrier) + " of " + std::to_string(threads) +
                             " threads wait at __syncthreads, " + std::to_string(done) +
                             " have left, the others wait for their warp");
    }
    for (int i = 0; i < threads; ++i) ready.push_back(i);
  }
}

}  // namespace

void setSeed(unsigned seed) {
  machine().seed = seed;
  machine().random.seed(seed);
}

void run(Grid grid, int threads, std::size_t shared_bytes, const std::function<void()>& body) {
  if (threads <= 0 || threads % kLanes != 0 || threads > kMostThreads || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.y > 65535 || grid.z > 65535 || shared_bytes > 232448) {
    throw std::logic_error("not a launch: " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
                           std::to_string(grid.z) + " blocks of " + std::to_string(threads) + " threads and " +
                           std::to_string(shared_bytes) + " bytes");
  }
  static std::mutex mutex;  // one machine for the nets of all threads
  const std::lock_guard lock(mutex);
  Machine& m = machine();
  m.error.clear();
  m.body = &body;
  m.scheduler.started = true;
  m.warps.resize(static_cast<std::size_t>(threads / kLanes));
  m.fibers.reserve(kMostThreads);  // a fiber that waits for its next block stays where it is
  while (m.fibers.size() < static_cast<std::size_t>(threads)) {
    m.fibers.emplace_back();
    m.fibers.back().stack = std::make_unique_for_overwrite<unsigned char[]>(kStack);
  }
  blockDim = {static_cast<unsigned>(threads), 1, 1};
  gridDim = {grid.x, grid.y, grid.z};
  std::vector<MpmIndex3> blocks;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) blocks.push_back({x, y, z});
  }
  if (m.seed != 0) std::shuffle(blocks.begin(), blocks.end(), m.random);
  for (const MpmIndex3& block : blocks) {
    blockIdx = block;
    runBlock(threads, shared_bytes);
  }
}

void waitForBlock() { toScheduler(Waiting::kBlock); }

void* blockMemory() { return machine().shared.get(); }

int lane() { return machine().current % kLanes; }

const Slots& meet(Collective operation, const void* mine, std::size_t bytes, void (*combine)(Slots&)) {
  Machine& m = machine();
  const int self = m.current;
  Warp& warp = m.warps[self / kLanes];
  const unsigned generation = warp.generation;
  Slots& slots = warp.slots[generation % 2];
  if (bytes > 0) std::memcpy(slots.lane[self % kLanes], mine, bytes);
  if (warp.arrived == 0) warp.operation = operation;
  if (warp.operation != operation) {
    m.error = "lanes of one warp wait at different collective operations";
    toScheduler(Waiting::kWarp);
  }
  if (++warp.arrived < kLanes) {
    toScheduler(Waiting::kWarp);
    return slots;
  }
  if (combine != nullptr) combine(slots);
  warp.arrived = 0;
  ++warp.generation;
  for (int i = self / kLanes * kLanes; i < self / kLanes * kLanes + kLanes; ++i) m.fibers[i].waiting = Waiting::kNo;
  return slots;
}

void copyAsync(void* shared, const void* from, bool valid) {
  Machine& m = machine();
  const auto aligned = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; };
  if (!aligned(shared) || (valid && !aligned(from))) {
    m.error = "an asynchronous copy that is not aligned to 16 bytes";
    toScheduler(Waiting::kWarp);
  }
  const AsyncCopy copy{shared, from, valid};
  // The hardware may be early or late: now, or when it is waited for.
  if (m.seed != 0 && m.random() % 2 == 0)
    copy.perform();
  else
    m.fibers[m.current].open.push_back(copy);
}

void commitCopies() {
  Machine& m = machine();
  Fiber& fiber = m.fibers[m.current];
  fiber.groups.push_back(std::move(fiber.open));
  fiber.open.clear();
}

void waitForCopies(int pending) {
  Machine& m = machine();
  Fiber& fiber = m.fibers[m.current];
  while (fiber.groups.size() > static_cast<std::size_t>(pending)) {
    for (const AsyncCopy& copy : fiber.groups.front()) copy.perform();
    fiber.unpublished = true;
    fiber.groups.pop_front();
  }
}

void publishShared() { machine().fibers[machine().current].unpublished = false; }

void beginProducts() { machine().fibers[machine().current].products_begun = true; }

void multiplyInWarpgroup(const WarpgroupProduct& product) {
  Machine& m = machine();
  Fiber& fiber = m.fibers[m.current];
  const auto offset = [&](const void* rows) {
    const auto bytes = static_cast<std::size_t>(static_cast<const unsigned char*>(rows) - m.shared.get());
    if (bytes % 1024 >= 128 || bytes % 16 != 0)
      m.error = "a warpgroup's operand that is not aligned to its permutation";
    return bytes;
  };
  OpenProduct open{product, product.rows_of_a != nullptr ? offset(product.rows_of_a) : 0, offset(product.b), {}};
  if (!fiber.products_begun) m.error = "a warpgroup's product that was not begun";
  for (std::size_t i = 0; i < m.warps.size() * kLanes; ++i)
    if (m.fibers[i].unpublished) m.error = "a warpgroup's product of copies that were not published";
  if (!m.error.empty()) toScheduler(Waiting::kWarp);
  if (product.registers != nullptr) {
    const Slots& slots = meet(Collective::kMultiplyInWarpgroup, product.registers, sizeof(open.registers[0]), nullptr);
    for (int t = 0; t < 4; ++t)
      std::memcpy(open.registers[t], slots.lane[lane() / 4 * 4 + t], sizeof(open.registers[t]));
  }
  // As copies: now, or when it is waited for, from what shared memory holds then.
  if (m.seed != 0 && m.random() % 2 == 0)
    open.perform();
  else
    fiber.products.push_back(open);
}

void finishProducts() {
  Fiber& fiber = machine().fibers[machine().current];
  for (const OpenProduct& product : fiber.products) product.perform();
  fiber.products.clear();
  fiber.products_begun = false;
}

std::uint16_t toBfloat(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float fromBfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t toHalf(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7fffu);
  const double magnitude = std::abs(static_cast<double>(x));
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00u);
  // In units of the last place: of the exponent's binade, or of the subnormals. nearbyint rounds to even.
  const int exponent = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14);
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  const auto count = static_cast<std::uint32_t>(steps);  // 1024 ... 2048, less for subnormals
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(exponent + 14) * 1024u + count));
}

namespace {

float ofHalf(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : static_cast<float>(sign * HUGE_VAL);
  return static_cast<float>(sign *
                            (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25)));
}

std::vector<float> allHalves() {
  std::vector<float> values;
  for (unsigned bits = 0; bits < 1u << 16; ++bits) values.push_back(ofHalf(static_cast<std::uint16_t>(bits)));
  return values;
}

}  // namespace

float fromHalf(std::uint16_t bits) {
  static const std::vector<float> values = allHalves();
  return values[bits];
}

namespace {

// Tensor cores cut off what does not fit; rounding towards zero is the closest that is easily said.
float cutOff(double sum) {
  const auto rounded = static_cast<float>(sum);
  return std::abs(static_cast<double>(rounded)) > std::abs(sum) ? std::nextafter(rounded, 0.0f) : rounded;
}

// Number `column` of row `row` of an operand that a descriptor with 128-byte swizzling names: bits 4 to 6 of an address
// are changed by its bits 7 to 9.
std::uint16_t permutedElement(std::size_t rows, int row, int column) {
  std::size_t at = rows + static_cast<std::size_t>(row / 8 * 1024 + row % 8 * 128 + 2 * column);
  at ^= (at >> 7 & 7) << 4;
  std::uint16_t bits;
  std::memcpy(&bits, machine().shared.get() + at, sizeof(bits));
  return bits;
}

void OpenProduct::perform() const {
  const int thread = machine().current, warp = thread / kLanes % 4, g = thread % kLanes / 4, t = thread % 4;
  const auto valueOfA = [&](int half, int k) {  // row g + 8 half of the warp's
    if (asked.rows_of_a != nullptr) return asked.widen(permutedElement(a, 16 * warp + g + 8 * half, k));
    const unsigned pair = registers[k % 8 / 2][half + k / 8 * 2];
    return asked.widen(static_cast<std::uint16_t>(pair >> (16 * (k % 2))));
  };
  double of_a[2][16];
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < 16; ++k) of_a[half][k] = static_cast<double>(valueOfA(half, k));
  for (int n = 0; n < asked.fragments; ++n) {
    for (int odd = 0; odd < 2; ++odd) {
      const int column = 8 * n + 2 * t + odd;
      double of_b[16];
      for (int k = 0; k < 16; ++k) {
        const std::uint16_t bits = asked.columns ? permutedElement(b, k, column) : permutedElement(b, column, k);
        of_b[k] = static_cast<double>(asked.widen(bits));
      }
      for (int half = 0; half < 2; ++half) {
        float& sum = asked.sum[n][2 * half + odd];
        double total = static_cast<double>(sum);
        for (int k = 0; k < 16; ++k) total += of_a[half][k] * of_b[k];
        sum = cutOff(total);
      }
    }
  }
}

struct MultiplyOperands {
  float c[4];
  unsigned a[4], b[2];
};

template <float (*kWiden)(std::uint16_t)>
void multiply(Slots& slots) {
  float a[16][16], b[16][8];
  for (int l = 0; l < kLanes; ++l) {
    const auto mine = valueOf<MultiplyOperands>(slots, l);
    const int g = l / 4, t = l % 4;
    for (int r = 0; r < 4; ++r) {
      for (int half = 0; half < 2; ++half)
        a[g + r % 2 * 8][2 * t + half + r / 2 * 8] = kWiden(static_cast<std::uint16_t>(mine.a[r] >> (16 * half)));
    }
    for (int r = 0; r < 2; ++r) {
      for (int half = 0; half < 2; ++half)
        b[2 * t + half + r * 8][g] = kWiden(static_cast<std::uint16_t>(mine.b[r] >> (16 * half)));
    }
  }
  for (int l = 0; l < kLanes; ++l) {
    auto mine = valueOf<MultiplyOperands>(slots, l);
    for (int e = 0; e < 4; ++e) {
      const int row = l / 4 + e / 2 * 8, column = 2 * (l % 4) + e % 2;
      double sum = static_cast<double>(mine.c[e]);
      for (int k = 0; k < 16; ++k) sum += static_cast<double>(a[row][k]) * static_cast<double>(b[k][column]);
      mine.c[e] = cutOff(sum);
    }
    std::memcpy(slots.lane[l], &mine, sizeof(mine));
  }
}

std::uint16_t elementAt(const void* row, int column) {
  std::uint16_t value;
  std::memcpy(&value, static_cast<const unsigned char*>(row) + 2 * column, 2);
  return value;
}

void load(Slots& slots, bool transposed) {
  const void* rows[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    rows[l] = valueOf<const void*>(slots, l);
    if (reinterpret_cast<std::uintptr_t>(rows[l]) % 16 != 0)
      machine().error = "a matrix row that is not aligned to 16 bytes";
  }
  for (int l = 0; l < kLanes; ++l) {
    unsigned r[4];
    for (int m = 0; m < 4; ++m) {
      const int fixed = l / 4, pair = 2 * (l % 4);
      const auto low = transposed ? elementAt(rows[8 * m + pair], fixed) : elementAt(rows[8 * m + fixed], pair);
      const auto high =
          transposed ? elementAt(rows[8 * m + pair + 1], fixed) : elementAt(rows[8 * m + fixed], pair + 1);
      r[m] = low | static_cast<unsigned>(high) << 16;
    }
    std::memcpy(slots.lane[l], r, sizeof(r));
  }
}

}  // namespace

void multiplyHalf(Slots& slots) { multiply<fromHalf>(slots); }
void multiplyBfloat(Slots& slots) { multiply<fromBfloat>(slots); }
void loadPlain(Slots& slots) { load(slots, false); }
void loadTransposed(Slots& slots) { load(slots, true); }

}  // namespace mpm::cuda::on_host
