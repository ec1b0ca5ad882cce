// SPDX-License-Identifier: Apache-2.0
// A plugin of qemu-user: prints the number of instructions that a program ran. qemu 7.2 of Debian 12 has no header for
// plugins, so the functions that it exports are declared here.
#include <inttypes.h>
#include <stdio.h>

struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*translated)(uint64_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation, void* counter,
                                              uint64_t value);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*ended)(uint64_t, void*), void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t count;

// Operation 0 adds to the counter each time that the block runs.
static void addBlock(uint64_t id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &count, qemu_plugin_tb_n_insns(block));
}

static void print(uint64_t id, void* data) {
  (void)id, (void)data;
  fprintf(stderr, "%" PRIu64 "\n", count);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, addBlock);
  qemu_plugin_register_atexit_cb(id, print, NULL);
  return 0;
}
