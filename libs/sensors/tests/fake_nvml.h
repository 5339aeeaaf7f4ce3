#pragma once

#include <atomic>

struct FakeCard {
  const char* uuid;
  const char* bus_id;
  int power_code, instant_code, energy_code;
  unsigned power_mw, instant_mw, limit_mw;
  unsigned long long energy_mj;
  int touched;
};
struct FakeProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct FakeProcessList {
  int code;
  unsigned count;
  unsigned calls;
  const FakeProcess* processes;
};
struct FakeNvml {
  unsigned count;
  int init_code, util_code;
  int inits, shutdowns;
  std::atomic<bool> hang;
  FakeCard cards[8];
  unsigned process_stride;                 // 16, 24 or 32: drivers differ
  FakeProcessList compute, graphics, mps;  // of card 0
  unsigned mig_slices[8];                  // of MIG device i of card 0, with GPU instance i + 1; 0 = none
};
