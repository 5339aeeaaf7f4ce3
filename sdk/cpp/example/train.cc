// A small training run that reports its progress: fits y = a x + b by gradient descent.
//   g++ -std=c++17 -pthread -I sdk/cpp/include sdk/cpp/example/train.cc -o train && ./train 20
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tidewatt/epoch_exporter.h"

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 20;
  tidewatt::EpochExporterOptions options;
  options.epochs_total = epochs;
  options.port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 8000);
  options.address = "127.0.0.1";
  tidewatt::EpochExporter exporter{"example-fit", options};
  if (!exporter.error().empty()) std::fprintf(stderr, "no /metrics: %s\n", exporter.error().c_str());

  std::mt19937 random{1};
  std::uniform_real_distribution<double> uniform{-1, 1};
  double slope = 0;
  double offset = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 100000; ++i) {
      const double x = uniform(random);
      const double error = slope * x + offset - (3 * x + 2);
      slope -= 0.001 * error * x;
      offset -= 0.001 * error;
    }
    exporter.finish_step(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    exporter.finish_epoch(
        epoch);  // without joules: this program can't read a meter, so its energy is unknown
    std::printf("epoch %d: y = %.2f x + %.2f\n", epoch, slope, offset);
  }
  std::printf("%s", exporter.metrics().c_str());
}
