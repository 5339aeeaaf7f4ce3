// What the fakes of vendors' libraries have in common: a state that tests set. Each fake translates it into
// its vendor's interface and links none of our libraries.
#pragma once

struct FakeVendorCard {
  unsigned long long power;   // in the vendor's own unit
  unsigned long long limit;   // likewise
  unsigned long long energy;  // likewise
  unsigned long long clock;   // of the energy, where the vendor has one
  int power_code;             // what the call for the power returns
  int touched;                // how often the card was measured
  unsigned bus;               // PCI address 0000:BUS:00.0
  int special;                // a fake's own twist
};
struct FakeVendor {
  int init_code;
  unsigned count;
  int inits, stops;
  FakeVendorCard cards[4];
};
