#include "tool_cases.h"

namespace tidewatt::metering {
namespace {

TEST(RedfishPower, ConsumedIsTheDrawAndNothingElseIs) {
  const auto r = parsed("redfish", R"({"@odata.type":"#Power.v1_5_0.Power","PowerControl":[{
    "Name":"System Power Control","PowerRequestedWatts":704,"PowerAllocatedWatts":1600,"PowerCapacityWatts":1600,
    "PowerAvailableWatts":0,"PowerConsumedWatts":517,"PowerLimit":{"LimitInWatts":348},
    "PowerMetrics":{"AverageConsumedWatts":501,"MaxConsumedWatts":640,"MinConsumedWatts":222}}],
    "PowerSupplies":[{"MemberId":"A","PowerInputWatts":900,"LastPowerOutputWatts":null}]})");
  EXPECT_EQ(brief(r), "0=517");
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 348);  // an inactive cap may be below the draw
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 501);
  EXPECT_DOUBLE_EQ(r.total->value(), 517);
}

TEST(RedfishPower, NullWhileTheBmcRestartsIsUnknown) {
  const auto r =
      parsed("redfish", R"({"PowerControl":[{"PowerConsumedWatts":null,"PowerCapacityWatts":800}]})");
  EXPECT_EQ(brief(r), "0=?");
  EXPECT_EQ(r.devices[0].reason, "PowerConsumedWatts_is_null");
  EXPECT_EQ(brief(parsed("redfish", R"({"PowerControl":[{"PowerCapacityWatts":800}]})")), "0=?");
  EXPECT_EQ(brief(parsed("redfish", R"({"PowerControl":[{"PowerConsumedWatts":0}]})")), "0=?");
  EXPECT_EQ(brief(parsed("redfish", R"({"PowerControl":[{"PowerConsumedWatts":-1}]})")), "0=?");
  EXPECT_EQ(brief(parsed("redfish", R"({"PowerControl":[{"PowerConsumedWatts":"416"}]})")), "0=416");
  EXPECT_EQ(
      brief(parsed("redfish", R"({"PowerControl":[{"PowerConsumedWatts":99,"Status":{"State":"Absent"}}]})")),
      "0=?");
}

TEST(RedfishPower, SeveralControlsAreReportedButNotAdded) {
  const auto r = parsed("redfish", R"({"PowerControl":[
    {"Name":"Server Power Control","PowerConsumedWatts":344},{"Name":"CPU Sub-system Power","PowerConsumedWatts":120}]})");
  EXPECT_EQ(brief(r), "0=344 1=120");
  EXPECT_FALSE(r.total);
}

TEST(RedfishPower, SuppliesStandInOnlyWhereThereIsNoControl) {
  EXPECT_EQ(brief(parsed("redfish", R"({"PowerSupplies":[{"MemberId":"0","LastPowerOutputWatts":90},
    {"MemberId":"1","PowerInputWatts":148.5,"PowerOutputWatts":134}]})")),
            "PSU 0=90 PSU 1=148.5");
}

TEST(RedfishMetrics, ReadingsAreObjectsAndEnergyIsNoPower) {
  const auto r = parsed("redfish", R"({"@odata.type":"#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
    "PowerWatts":{"DataSourceUri":"/x","Reading":612.5,"ApparentVA":640},"EnergykWh":{"Reading":36166},
    "PowerLimitWatts":{"SetPoint":900,"AllowableMax":1000}})");
  EXPECT_EQ(brief(r), "0=612.5");
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 900);
  EXPECT_EQ(
      brief(parsed(
          "redfish",
          R"({"@odata.type":"#EnvironmentMetrics.v1_0_0.EnvironmentMetrics","EnergykWh":{"Reading":3}})")),
      "0=?");
}

TEST(RedfishMetrics, ASupplyIsNamedByItsAddressAndIsNotTheNode) {
  const auto r =
      parsed("redfish", R"({"@odata.type":"#PowerSupplyMetrics.v1_0_0.PowerSupplyMetrics","Id":"Metrics",
    "InputPowerWatts":{"Reading":374.5},"OutputPowerWatts":{"Reading":350},"RailPowerWatts":[{"Reading":79.8}],
    "@odata.id":"/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/Bay2/Metrics"})");
  EXPECT_EQ(brief(r), "PSU Bay2=374.5");
  EXPECT_FALSE(r.total);
}

TEST(RedfishSensor, OnlyASensorOfPowerCounts) {
  EXPECT_EQ(brief(parsed("redfish",
                         R"({"@odata.type":"#Sensor.v1_2_0.Sensor","Id":"TotalPower","ReadingType":"Power",
    "ReadingUnits":"W","Reading":288,"PeakReading":402,"Thresholds":{"UpperCritical":{"Reading":900}}})")),
            "TotalPower=288");
  refused("redfish",
          R"({"@odata.type":"#Sensor.v1_2_0.Sensor","Id":"T","ReadingType":"Temperature","Reading":28})");
  refused("redfish",
          R"({"@odata.type":"#Sensor.v1_2_0.Sensor","Id":"E","ReadingType":"EnergykWh","Reading":28})");
  EXPECT_EQ(brief(parsed("redfish", R"({"Members":[{"Id":"Fan","ReadingType":"Rotational","Reading":2000},
    {"Id":"GPU_0_Power","ReadingType":"Power","ReadingUnits":"W","Reading":410.2},
    {"Id":"GPU_1_Power","ReadingType":"Power","ReadingUnits":"W","Reading":null}]})")),
            "GPU_0_Power=410.2 GPU_1_Power=?");
}

TEST(Redfish, WhatIsNoReadingIsAnErrorThatQuotesTheBmc) {
  EXPECT_NE(refused("redfish", R"({"error":{"code":"Base.1.8.GeneralError","message":"See ExtendedInfo",
    "@Message.ExtendedInfo":[{"Message":"The service could not authenticate this session."}]}})")
                .find("could not authenticate"),
            std::string::npos);
  refused("redfish", "");
  refused("redfish", "<html>401</html>");
  refused("redfish", "[1,2]");
  refused("redfish",
          R"({"@odata.type":"#ChassisCollection.ChassisCollection","Members":[{"@odata.id":"/x"}]})");
  refused("redfish", std::string(200'000, '['));
}

TEST(Redfish, NoPieceOfATextGivesAnotherNumber) {
  expect_no_number_from_a_piece("redfish", R"({"PowerControl":[{"PowerConsumedWatts":517}]})");
}

}  // namespace
}  // namespace tidewatt::metering
