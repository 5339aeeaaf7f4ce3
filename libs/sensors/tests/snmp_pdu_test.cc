#include <gtest/gtest.h>

#include <algorithm>

#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/fake_process.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

class SnmpPdu : public ::testing::Test {
 protected:
  SnmpPdu() { files.files["/etc/community"] = "sUperSecret\n"; }
  void answer(int exit_code, std::string out, std::string err = {}) {
    processes.answers.insert_or_assign("env", ProcessOutput{exit_code, std::move(out), std::move(err)});
  }
  SnmpOptions outlets() {
    SnmpOptions options;
    options.host = "pdu-1.example";
    options.oids = {".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3", ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4"};
    options.community_file = "/etc/community";
    options.state_folder = "/var/lib/agent";
    return options;
  }
  Result<std::vector<Reading>> read(SnmpOptions options) {
    return make_snmp_pdu(files, processes, clock, std::move(options))->read();
  }
  testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
};

TEST_F(SnmpPdu, OutletsAreReadingsOfTheirOwn) {
  answer(0,
         ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3 = INTEGER: 410\n.1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4 = INTEGER: "
         "395\n");
  auto options = outlets();
  options.first_index = 100;
  const auto readings = read(options);
  ASSERT_TRUE(readings) << readings.error().to_string();
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_EQ(readings->at(0).domain, "pdu");
  EXPECT_EQ(readings->at(1).index, 101);
  EXPECT_DOUBLE_EQ(readings->at(1).power->value(), 395);
  EXPECT_EQ(readings->at(1).source, "snmp:pdu-1.example");
}

TEST_F(SnmpPdu, OutletThatVanishesIsUnknownAndTheOthersKeepTheirNumbers) {
  const std::string third = ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3 = INTEGER: 410\n";
  const std::string fourth = ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4 = INTEGER: 395\n";
  const auto pdu = make_snmp_pdu(files, processes, clock, outlets());
  answer(0, third + fourth);
  ASSERT_EQ(pdu->read()->size(), 2U);
  answer(0, fourth);
  const auto readings = pdu->read();
  ASSERT_TRUE(readings);
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_EQ(readings->at(0).index, 1);
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 395);
  EXPECT_EQ(readings->at(1).index, 0);
  EXPECT_FALSE(readings->at(1).power);
  EXPECT_EQ(readings->at(1).reason, "no longer in the answer");
}

TEST_F(SnmpPdu, AMeterOfTheSiteIsNoNodesOutlet) {
  answer(0, ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3 = INTEGER: 41000\n");
  auto options = outlets();
  options.of_facility = true;
  const auto readings = read(options);
  ASSERT_TRUE(readings) << readings.error().to_string();
  EXPECT_EQ(readings->at(0).domain, "facility");
}

TEST_F(SnmpPdu, TheCommunityStandsInAFileAndNeverOnACommandLine) {
  answer(0, ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3 = INTEGER: 410\n");
  ASSERT_TRUE(read(outlets()));
  for (const auto& word : processes.asked.at(0)) EXPECT_EQ(word.find("sUperSecret"), std::string::npos);
  EXPECT_EQ(processes.asked.at(0).at(1), "SNMPCONFPATH=/var/lib/agent/snmp/pdu-1.example");
  EXPECT_EQ(files.files.at("/var/lib/agent/snmp/pdu-1.example/snmp.conf"),
            "defVersion 2c\ndefCommunity sUperSecret\n");
}

TEST_F(SnmpPdu, ACommunityThatWouldBreakTheFileIsRefused) {
  for (const auto* text : {"", "\n", "two words\n", "a\"b\n", "a#b\n"}) {
    files.files["/etc/community"] = text;
    EXPECT_EQ(read(outlets()).error().code, ErrorCode::invalid_input) << text;
  }
  EXPECT_TRUE(processes.asked.empty());
}

TEST_F(SnmpPdu, AModelIsWalked) {
  answer(0, ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n");
  auto options = outlets();
  options.oids.clear();
  options.model = "apc";
  EXPECT_DOUBLE_EQ(read(options)->at(0).power->value(), 1370);
  EXPECT_EQ(processes.asked.at(0).at(3), "snmpwalk");
  options.model = "raritan";
  answer(0, "");
  EXPECT_FALSE(read(options));
  EXPECT_EQ(processes.asked.size(), 3U);
}

TEST_F(SnmpPdu, AUnitAndItsOutletsAreNeverAdded) {
  answer(0,
         ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n.1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3 = INTEGER: "
         "410\n");
  EXPECT_EQ(read(outlets()).error().code, ErrorCode::invalid_input);
}

TEST_F(SnmpPdu, FailuresSayWhatToDo) {
  answer(1, "", "Timeout: No Response from pdu-1.example.\n");
  EXPECT_EQ(read(outlets()).error().message,
            "snmpget pdu-1.example: Timeout: No Response from pdu-1.example.");
  answer(127, "", "env: 'snmpget': No such file or directory\n");
  EXPECT_EQ(read(outlets()).error().code, ErrorCode::not_found);
  answer(0, ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3 = No Such Instance currently exists at this OID\n");
  EXPECT_FALSE(read(outlets())->at(0).power);
}

}  // namespace
}  // namespace tidewatt::sensors
