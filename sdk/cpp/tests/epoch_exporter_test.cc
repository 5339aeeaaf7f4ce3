#include "tidewatt/epoch_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tidewatt {
namespace {

using testing::HasSubstr;
using testing::Not;

EpochExporterOptions on_loopback() {
  EpochExporterOptions options;
  options.port = std::uint16_t{0};
  options.address = "127.0.0.1";
  return options;
}

EpochExporterOptions unserved() {
  EpochExporterOptions options;
  options.port.reset();
  return options;
}

std::string ask(std::uint16_t port, const std::string& request) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) return "not connected";
  ::send(connection, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(connection, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  ::close(connection);
  return answer;
}

TEST(EpochExporter, TellsEpochTotalEnergyAndStepLatency) {
  auto options = unserved();
  options.epochs_total = 9;
  EpochExporter exporter{"job-1", options};
  exporter.finish_step(0.25);
  exporter.finish_step(0.75);
  exporter.finish_epoch(1, 100.5);
  exporter.finish_epoch(2, 200);
  const auto text = exporter.metrics();
  EXPECT_THAT(text, HasSubstr("tidewatt_task_epoch{task_id=\"job-1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_task_epochs_total{task_id=\"job-1\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE tidewatt_task_energy_joules_total counter\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_task_energy_joules_total{task_id=\"job-1\"} 300.5\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_task_step_latency_seconds{task_id=\"job-1\"} 0.5\n"));
}

TEST(EpochExporter, WhatIsNotKnownHasNoLine) {
  EpochExporter exporter{"job", unserved()};
  EXPECT_THAT(exporter.metrics(), Not(HasSubstr("joules")));
  exporter.finish_epoch(1, 5);
  exporter.finish_epoch(2);
  exporter.finish_epoch(3, 5);
  EXPECT_THAT(exporter.metrics(), Not(HasSubstr("joules")));
  EXPECT_THAT(exporter.metrics(), Not(HasSubstr("epochs_total")));
}

TEST(EpochExporter, NonsenseIsUnknownNotAFigure) {
  for (const double joules :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EpochExporter exporter{"job", unserved()};
    exporter.finish_epoch(1, joules);
    EXPECT_THAT(exporter.metrics(), Not(HasSubstr("joules")));
  }
}

TEST(EpochExporter, LabelsAreEscapedAndBadNamesLeftOut) {
  auto options = unserved();
  options.labels = {{"team", "a\"b\\c\nd"}, {"a-b", "x"}, {"task_id", "other"}};
  EpochExporter exporter{"job", options};
  EXPECT_THAT(exporter.metrics(), HasSubstr("{task_id=\"job\",team=\"a\\\"b\\\\c\\nd\"} 0"));
}

TEST(EpochExporter, ServesMetricsAndNothingElse) {
  EpochExporter exporter{"job", on_loopback()};
  ASSERT_TRUE(exporter.port()) << exporter.error();
  EXPECT_THAT(ask(*exporter.port(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
              HasSubstr("tidewatt_task_epoch{task_id=\"job\"} 0"));
  EXPECT_THAT(ask(*exporter.port(), "GET /etc HTTP/1.1\r\n\r\n"), HasSubstr("404 Not Found"));
  EXPECT_THAT(ask(*exporter.port(), std::string(20000, 'x')), Not(HasSubstr("200 OK")));
  EXPECT_THAT(ask(*exporter.port(), "GET /metrics HTTP/1.1\r\n\r\n"), HasSubstr("200 OK"));
}

TEST(EpochExporter, ATakenPortIsToldAndStopsNothing) {
  EpochExporter first{"a", on_loopback()};
  auto options = on_loopback();
  options.port = first.port();
  EpochExporter second{"b", options};
  EXPECT_FALSE(second.port());
  EXPECT_THAT(second.error(), HasSubstr("Address already in use"));
  second.finish_epoch(1);
  options.address = "nowhere";
  EXPECT_THAT((EpochExporter{"c", options}.error()), HasSubstr("\"nowhere\" is no IPv4 address"));
}

}  // namespace
}  // namespace tidewatt
