// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program under test: its n-th call (MPM_FAIL_CALL) that changes a file under the folder
// MPM_FAIL_FOLDER fails, once. With MPM_FAIL_MEMORY instead of the folder, the n-th allocation of 64 KiB or more fails.
// MPM_FAIL_MARK is created when a call failed.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};
std::atomic<bool> started{false};  // libraries that allocate before main() end the program when that fails

bool isTheOne() {
  const char* number = std::getenv("MPM_FAIL_CALL");
  if (!number || ++calls != std::atol(number)) return false;
  ::syscall(SYS_close, ::syscall(SYS_openat, AT_FDCWD, std::getenv("MPM_FAIL_MARK"), O_CREAT | O_WRONLY, 0600));
  return true;
}

bool isUnder(const char* path) {
  const char* folder = std::getenv("MPM_FAIL_FOLDER");
  return folder && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

// True when this call on an open file is to fail.
bool failsAt(int file, int cause) {
  char link[40], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = 0;
  if (!isUnder(path) || !isTheOne()) return false;
  errno = cause;
  return true;
}

bool failsFor(std::size_t bytes) {
  if (bytes < 65536 || !started || !std::getenv("MPM_FAIL_MEMORY") || !isTheOne()) return false;
  errno = ENOMEM;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);

}  // namespace

extern "C" {

using Main = int(int, char**, char**);
int __libc_start_main(Main* program, int count, char** words, void (*init)(), void (*fini)(), void (*loader)(),
                      void* stack) {
  started = true;
  return next<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main")(
      program, count, words, init, fini, loader, stack);
}

ssize_t write(int file, const void* bytes, std::size_t count) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
  return failsAt(file, ENOSPC) ? -1 : real(file, bytes, count);
}
ssize_t pwrite64(int file, const void* bytes, std::size_t count, off64_t at) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
  return failsAt(file, ENOSPC) ? -1 : real(file, bytes, count, at);
}
int fsync(int file) {
  static auto* const real = next<int(int)>("fsync");
  return failsAt(file, EIO) ? -1 : real(file);
}
int fdatasync(int file) {
  static auto* const real = next<int(int)>("fdatasync");
  return failsAt(file, EIO) ? -1 : real(file);
}
int ftruncate64(int file, off64_t size) {
  static auto* const real = next<int(int, off64_t)>("ftruncate64");
  return failsAt(file, EIO) ? -1 : real(file, size);
}
int rename(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  if (!isUnder(to) || !isTheOne()) return real(from, to);
  errno = EIO;
  return -1;
}
void* malloc(std::size_t bytes) { return failsFor(bytes) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return failsFor(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return failsFor(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (failsFor(bytes)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

}  // extern "C"
