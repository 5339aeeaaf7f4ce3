#include "tool_cases.h"

namespace tidewatt::metering {
namespace {

TEST(PduApc, TheNewerGenerationCountsInHundredthsOfKilowatts) {
  const auto r = parsed("pdu",
                        ".1.3.6.1.4.1.318.1.1.26.4.3.1.3.1 = STRING: \"rack 7\"\n"
                        ".1.3.6.1.4.1.318.1.1.26.4.3.1.4.1 = INTEGER: 2\n"
                        ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n"
                        ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.2 = INTEGER: 22\n"
                        ".1.3.6.1.4.1.318.1.1.26.4.3.1.6.1 = INTEGER: 400\n");
  EXPECT_EQ(brief(r), "pdu 1=1370 pdu 2=220");
  EXPECT_DOUBLE_EQ(r.total->value(), 1590);
}

TEST(PduApc, TheOlderGenerationCountsInWatts) {
  EXPECT_EQ(brief(parsed("pdu", "PowerNet-MIB::rPDUIdentDevicePowerWatts.0 = INTEGER: 224\n")), "pdu 0=224");
  EXPECT_EQ(brief(parsed("pdu", "SNMPv2-SMI::enterprises.318.1.1.12.1.16.0 = INTEGER: 224\n")), "pdu 0=224");
  EXPECT_EQ(brief(parsed("pdu", "iso.3.6.1.4.1.318.1.1.12.1.16.0 = INTEGER: 224\n")), "pdu 0=224");
  EXPECT_EQ(brief(parsed("pdu", ".1.3.6.1.4.1.318.1.1.12.1.16.0 224\n")), "pdu 0=224");
}

TEST(PduApc, OutletsAndPhasesArePartsAndNotAdded) {
  const auto r = parsed("pdu",
                        "PowerNet-MIB::rPDU2DeviceStatusPower.1 = Gauge32: 50\n"
                        "PowerNet-MIB::rPDU2DeviceStatusPowerFactor.1 = Gauge32: 98\n"
                        "PowerNet-MIB::rPDU2PhaseStatusPower.1 = INTEGER: 30\n"
                        "PowerNet-MIB::rPDU2PhaseStatusPower.2 = INTEGER: -1\n"
                        "PowerNet-MIB::rPDU2OutletMeteredStatusPower.1 = INTEGER: 410\n"
                        "PowerNet-MIB::rPDU2OutletMeteredStatusPower.2 = INTEGER: 0\n");
  EXPECT_EQ(brief(r), "pdu 1=500 phase 1=300 phase 2=? outlet 1=410 outlet 2=0");
  EXPECT_EQ(r.devices[2].reason, "not_present: -1");
  EXPECT_DOUBLE_EQ(r.total->value(), 500);
}

TEST(PduOthers, ServerTechnologyAndEatonCountInWatts) {
  const auto r = parsed("pdu",
                        "Sentry4-MIB::st4InputCordActivePower.1.1 = INTEGER: 1310 Watts\n"
                        "Sentry4-MIB::st4InputCordActivePower.2.1 = INTEGER: 690 Watts\n"
                        "Sentry4-MIB::st4InputCordActivePowerStatus.1.1 = INTEGER: normal(0)\n");
  EXPECT_EQ(brief(r), "inlet 1.1=1310 inlet 2.1=690");
  EXPECT_DOUBLE_EQ(r.total->value(), 2000);
  EXPECT_EQ(brief(parsed("pdu", ".1.3.6.1.4.1.1718.3.2.2.1.12.1.1 = INTEGER: 845\n")), "inlet 1.1=845");
  EXPECT_EQ(brief(parsed("pdu", ".1.3.6.1.4.1.534.6.6.7.3.5.1.4.0.1 = INTEGER: 901\n")), "pdu 0.1=901");
}

TEST(PduOthers, RaritanNeedsItsDecimalDigits) {
  const std::string value =
      "PDU2-MIB::measurementsInletSensorValue.1.1.activePower = Gauge32: 12405\n"
      "PDU2-MIB::measurementsInletSensorValue.1.1.rmsVoltage = Gauge32: 230\n";
  EXPECT_EQ(brief(parsed("pdu", value)), "inlet 1.1=?");
  EXPECT_EQ(brief(parsed("pdu", "PDU2-MIB::inletSensorDecimalDigits.1.1.activePower = Gauge32: 1\n" + value)),
            "inlet 1.1=1240.5");
  EXPECT_EQ(brief(parsed("pdu",
                         ".1.3.6.1.4.1.13742.6.3.3.4.1.7.1.1.5 = Gauge32: 0\n"
                         ".1.3.6.1.4.1.13742.6.5.2.3.1.4.1.1.5 = Gauge32: 1240\n")),
            "inlet 1.1=1240");
}

TEST(Pdu, WhatIsNoPowerIsUnknownOrAnError) {
  EXPECT_EQ(
      brief(parsed("pdu", "PowerNet-MIB::rPDU2DeviceStatusPower.1 = No Such Instance currently exists\n")),
      "pdu 1=?");
  EXPECT_EQ(brief(parsed("pdu", ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 0\n")), "pdu 1=?");
  EXPECT_NE(refused("pdu", "Timeout: No Response from 192.0.2.7\n").find("Timeout"), std::string::npos);
  refused("pdu", ".1.3.6.1.2.1.1.1.0 = STRING: APC Web/SNMP\n");
  refused("pdu", "");
}

TEST(Pdu, NoPieceOfATextGivesAnotherNumber) {
  expect_no_number_from_a_piece("pdu",
                                ".1.3.6.1.4.1.318.1.1.26.4.3.1.4.1 = INTEGER: 2\n"
                                ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n");
}

TEST(Pdu, ANumberThatTheTextEndsWithIsUnknownThoughItIsTheOnlyOne) {
  const auto r = parsed("pdu", ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 13");
  EXPECT_EQ(brief(r), "pdu 1=?");
  EXPECT_FALSE(r.total);
}

TEST(Pdu, AWalkThatStandsTwiceCountsOnce) {
  const std::string walk =
      ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n.1.3.6.1.4.1.318.1.1.26.4.3.1.5.2 = INTEGER: 22\n";
  EXPECT_EQ(brief(parsed("pdu", walk + walk)), "pdu 1=1370 pdu 2=220");
  EXPECT_DOUBLE_EQ(parsed("pdu", walk + walk).total->value(), 1590);
  const auto named = parsed("pdu", walk + "PowerNet-MIB::rPDU2DeviceStatusPower.1 = INTEGER: 138\n");
  EXPECT_EQ(brief(named), "pdu 1=1380 pdu 2=220");
}

TEST(Pdu, AUnitThatAnswersTheOldAndTheNewObjectCountsOnce) {
  const auto r = parsed("pdu",
                        ".1.3.6.1.4.1.318.1.1.12.1.16.0 = INTEGER: 1365\n"
                        ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n");
  EXPECT_DOUBLE_EQ(r.total->value(), 1370);
}

}  // namespace
}  // namespace tidewatt::metering
