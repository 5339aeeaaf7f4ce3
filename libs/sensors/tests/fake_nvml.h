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
struct FakeNvml {
  unsigned count;
  int init_code, util_code;
  int inits, shutdowns;
  std::atomic<bool> hang;
  FakeCard cards[4];
};
