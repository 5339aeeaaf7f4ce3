#include <gtest/gtest.h>

#include <map>

#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

struct Service {
  std::map<std::string, HttpAnswer> documents;  ///< by URL; others are 404
  std::vector<std::string> asked;
  std::string authorization;
  std::optional<Error> down;
};

class FakeGet final : public HttpGet {
 public:
  explicit FakeGet(Service& service) : service_(service) {}
  Result<HttpAnswer> get(const std::string& url,
                         const std::vector<std::pair<std::string, std::string>>& headers) override {
    service_.asked.push_back(url);
    for (const auto& [name, value] : headers)
      if (name == "authorization") service_.authorization = value;
    if (service_.down) return tl::unexpected(*service_.down);
    const auto found = service_.documents.find(url);
    return found == service_.documents.end() ? HttpAnswer{404, ""} : found->second;
  }

 private:
  Service& service_;
};

constexpr const char* kPower =
    R"({"PowerControl":[{"Name":"System Power Control","PowerConsumedWatts":421}]})";

class Redfish : public ::testing::Test {
 protected:
  static RedfishOptions at(const std::string& url, int control = -1, const std::string& credentials = {}) {
    return {.url = url, .credentials_file = credentials, .control = control};
  }
  std::unique_ptr<Source> source(RedfishOptions options) {
    return make_redfish(files, std::make_unique<FakeGet>(service), clock, std::move(options));
  }
  void put(const std::string& path, std::string body) {
    service.documents["https://bmc" + path] = {200, std::move(body)};
  }
  void chassis(const std::string& id, const std::string& power_path) {
    put("/redfish/v1/Chassis/" + id, R"({"Power":{"@odata.id":")" + power_path + R"("}})");
  }
  /// Chassis 1 has a meter without a value, chassis 2 measures.
  void one_of_two_is_silent() {
    put("/redfish/v1/Chassis",
        R"({"Members":[{"@odata.id":"/redfish/v1/Chassis/1"},{"@odata.id":"/redfish/v1/Chassis/2"}]})");
    chassis("1", "/redfish/v1/Chassis/1/Power");
    put("/redfish/v1/Chassis/1/Power", R"({"PowerControl":[{"PowerConsumedWatts":null}]})");
    chassis("2", "/redfish/v1/Chassis/2/Power");
    put("/redfish/v1/Chassis/2/Power", kPower);
  }
  testing::FakeFileSystem files;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  Service service;
};

TEST_F(Redfish, ANamedDocumentIsReadWithTheAccountFromItsFile) {
  files.files["/etc/bmc"] = "tidewatt:s3cret pass\n";
  put("/redfish/v1/Chassis/1/Power", kPower);
  const auto readings = source(at("https://bmc/redfish/v1/Chassis/1/Power", -1, "/etc/bmc"))->read();
  ASSERT_TRUE(readings) << readings.error().to_string();
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 421);
  EXPECT_EQ(readings->at(0).domain, "platform");
  EXPECT_EQ(service.authorization, "Basic dGlkZXdhdHQ6czNjcmV0IHBhc3M=");
}

TEST_F(Redfish, TheServiceIsSearchedOnceForTheChassisThatMeasures) {
  one_of_two_is_silent();
  const auto bmc = source(at("https://bmc/"));
  EXPECT_NE(bmc->read()->at(0).reason.find("waits a minute for /redfish/v1/Chassis/1/Power"),
            std::string::npos);
  clock.advance(Milliseconds{60'000});
  EXPECT_DOUBLE_EQ(bmc->read()->at(0).power->value(), 421);
  service.asked.clear();
  EXPECT_TRUE(bmc->read());
  EXPECT_EQ(service.asked.size(), 1U);
}

TEST_F(Redfish, MeterThatWasSilentAtTheStartIsNotHalfANode) {
  one_of_two_is_silent();
  const auto bmc = source(at("https://bmc/"));
  EXPECT_FALSE(bmc->read()->at(0).power);
  clock.advance(Milliseconds{120'000});
  EXPECT_TRUE(bmc->read()->at(0).power);
  put("/redfish/v1/Chassis/1/Power", kPower);
  clock.advance(Milliseconds{60'000});
  const auto both = bmc->read();
  ASSERT_FALSE(both) << "two meters now, and which is the node's input nobody knows";
  EXPECT_NE(both.error().message.find("2 chassis measure power"), std::string::npos);
}

TEST_F(Redfish, PowerOfAPartIsNotTheNodes) {
  put("/p", R"({"PowerControl":[{"PhysicalContext":"CPU","PowerConsumedWatts":200}]})");
  const auto part = source(at("https://bmc/p"))->read();
  ASSERT_TRUE(part);
  EXPECT_FALSE(part->at(0).power);
  EXPECT_EQ(part->at(0).reason, "physical_context_CPU");
  put("/p", R"({"PowerControl":[{"PhysicalContext":"CPU","PowerConsumedWatts":200},
                                {"PhysicalContext":"Chassis","PowerConsumedWatts":640}]})");
  EXPECT_DOUBLE_EQ(source(at("https://bmc/p", 1))->read()->at(0).power->value(), 640);
}

TEST_F(Redfish, SharedSuppliesAreCountedOnceAndTwoMetersAreNotGuessed) {
  put("/redfish/v1/Chassis",
      R"({"Members":[{"@odata.id":"/redfish/v1/Chassis/A"},{"@odata.id":"/redfish/v1/Chassis/B"}]})");
  chassis("A", "/redfish/v1/Chassis/A/Power");
  chassis("B", "/redfish/v1/Chassis/A/Power");  // one document for both
  put("/redfish/v1/Chassis/A/Power", kPower);
  EXPECT_DOUBLE_EQ(source(at("https://bmc"))->read()->at(0).power->value(), 421);
  chassis("B", "/redfish/v1/Chassis/B/Power");
  put("/redfish/v1/Chassis/B/Power", kPower);
  const auto readings = source(at("https://bmc"))->read();
  ASSERT_FALSE(readings);
  EXPECT_NE(readings.error().message.find("/redfish/v1/Chassis/A/Power, /redfish/v1/Chassis/B/Power"),
            std::string::npos);
}

TEST_F(Redfish, OneOfSeveralControlsMustBeNamed) {
  put("/p", R"({"PowerControl":[{"PowerConsumedWatts":344},{"PowerConsumedWatts":53}]})");
  EXPECT_FALSE(source(at("https://bmc/p"))->read());
  EXPECT_FALSE(source(at("https://bmc/p", 2))->read());
  EXPECT_DOUBLE_EQ(source(at("https://bmc/p", 1))->read()->at(0).power->value(), 53);
}

TEST_F(Redfish, ARefusedAccountSaysWhatToDo) {
  service.documents["https://bmc/p"] = {401, ""};
  const auto readings = source(at("https://bmc/p"))->read();
  EXPECT_EQ(readings.error().code, ErrorCode::permission_denied);
  EXPECT_NE(readings.error().hint.find("credentials=FILE"), std::string::npos);
  files.files["/etc/bmc"] = "only-a-name\n";
  EXPECT_EQ(source(at("https://bmc/p", -1, "/etc/bmc"))->read().error().code, ErrorCode::invalid_input);
}

TEST_F(Redfish, ADeadBmcIsAnErrorAndARestartingOneUnknown) {
  put("/p", R"({"PowerControl":[{"PowerConsumedWatts":null}]})");
  const auto bmc = source(at("https://bmc/p"));
  EXPECT_FALSE(bmc->read()->at(0).power);
  service.documents["https://bmc/p"] = {503, ""};
  EXPECT_EQ(bmc->read().error().code, ErrorCode::unavailable);
  service.documents["https://bmc/p"] = {200, "<html>"};
  EXPECT_FALSE(bmc->read());
  service.down = Error{ErrorCode::timed_out, "no end within 4000 ms", ""};
  EXPECT_EQ(bmc->read().error().code, ErrorCode::timed_out);
}

TEST_F(Redfish, LinksToOtherHostsAreNotFollowed) {
  put("/redfish/v1/Chassis",
      R"({"Members":[{"@odata.id":"//evil/x"},{"@odata.id":"https://evil/x"},{"@odata.id":"@evil/x"}]})");
  EXPECT_FALSE(source(at("https://bmc"))->read());
  EXPECT_EQ(service.asked.size(), 1U);
}

}  // namespace
}  // namespace tidewatt::sensors
