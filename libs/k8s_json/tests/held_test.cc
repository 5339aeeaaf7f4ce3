#include "tidewatt/k8s_json/held.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tidewatt::k8s_json {
namespace {

using Json = nlohmann::json;
using k8s::ObjectKind;

const UtcTime kNow = *parse_rfc3339("2026-11-29T08:00:00Z");

Json a_pod() {
  return Json::parse(
      R"({"metadata":{"name":"p","namespace":"batch","uid":"u1","resourceVersion":"7","creationTimestamp":"2026-11-29T07:00:00Z",
    "labels":{"carbon-tolerance":"weekly","tidewatt.io/carbon-tolerance":"daily","estimated-duration-hours":"2.5"},
    "annotations":{"tidewatt.io/latest-start":"2026-11-30T07:00:00Z","tidewatt.io/planned-start":"never"},
    "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","uid":"j1","controller":true}]},
    "spec":{"schedulingGates":[{"name":"other"},{"name":"tidewatt.io/clean-window"}],"nodeSelector":{"topology.kubernetes.io/region":"eu-west-3"}},
    "status":{"phase":"Pending"}})");
}

TEST(ReadHeld, KnowsAPodBehindItsGate) {
  const auto held = read_held(ObjectKind::pod, a_pod().dump());
  ASSERT_TRUE(held) << held.error().to_string();
  EXPECT_TRUE(held->held);
  EXPECT_EQ(held->gate_index, 1U);
  EXPECT_EQ(held->tolerance, "daily") << "the prefixed label wins";
  EXPECT_EQ(held->duration, Milliseconds{9'000'000});
  EXPECT_EQ(held->latest_start, kNow + std::chrono::hours{23});
  EXPECT_FALSE(held->planned_start) << "what is no time is none";
  EXPECT_EQ(held->topology, "eu-west-3");
  EXPECT_EQ(held->job_uid, "j1");
  EXPECT_FALSE(held->ended);
}

TEST(ReadHeld, KnowsWhenAPodEnded) {
  auto pod = a_pod();
  pod["status"] = Json::parse(R"({"phase":"Failed","containerStatuses":[
    {"state":{"terminated":{"finishedAt":"2026-11-29T08:00:00Z"}}},{"state":{"terminated":{"finishedAt":"2026-11-29T07:30:00Z"}}},{"state":{}}]})");
  const auto held = read_held(ObjectKind::pod, pod.dump());
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->ended);
  EXPECT_EQ(held->ended_at, kNow);
}

TEST(ReadHeld, TouchesOnlyJobsThatAskForItAndNoneOfKueue) {
  auto job = Json::parse(
      R"({"metadata":{"name":"j","uid":"u","annotations":{"tidewatt.io/suspended-until-clean":"hold"}},"spec":{"suspend":true}})");
  EXPECT_TRUE(read_held(ObjectKind::job, job.dump())->held);
  auto running = job;
  running["spec"]["suspend"] = false;
  EXPECT_FALSE(read_held(ObjectKind::job, running.dump())->held);
  auto queued = job;
  queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q";
  EXPECT_FALSE(read_held(ObjectKind::job, queued.dump())->held);
  job["metadata"].erase("annotations");
  EXPECT_FALSE(read_held(ObjectKind::job, job.dump())->held);
}

TEST(ReadHeldList, LeavesOutWhatHasNoIdentity) {
  const Json list{{"metadata", {{"resourceVersion", "9"}, {"continue", "t"}}},
                  {"items", {a_pod(), Json::object(), 7}}};
  const auto read = read_held_list(ObjectKind::pod, list.dump());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->items.size(), 1U);
  EXPECT_EQ(read->next, "t");
  EXPECT_EQ(
      read_held_list(ObjectKind::pod, R"({"metadata":{"resourceVersion":"9"},"items":null})")->items.size(),
      0U);
  EXPECT_FALSE(read_held_list(ObjectKind::pod, "{}"));
}

TEST(ReadWatchEvent, KnowsChangesBookmarksAndErrors) {
  using Type = WatchEvent::Type;
  const auto event = [](const char* type, const Json& object) {
    return read_watch_event(ObjectKind::pod, Json{{"type", type}, {"object", object}}.dump());
  };
  EXPECT_EQ(event("ADDED", a_pod())->type, Type::changed);
  EXPECT_EQ(event("DELETED", a_pod())->type, Type::deleted);
  const auto bookmark = event("BOOKMARK", {{"metadata", {{"resourceVersion", "12"}}}});
  EXPECT_EQ(bookmark->type, Type::bookmark);
  EXPECT_EQ(bookmark->resource_version, "12");
  const auto gone = event("ERROR", {{"code", 410}, {"message", "too old"}});
  EXPECT_EQ(gone->code, 410);
  EXPECT_FALSE(event("ADDED", Json::object()));
  EXPECT_FALSE(event("WHAT", a_pod()));
  EXPECT_FALSE(read_watch_event(ObjectKind::pod, "{"));
}

TEST(OpenPatch, TestsWhatItTakesAwayAndAppliesToThatObjectOnly) {
  const auto held = *read_held(ObjectKind::pod, a_pod().dump());
  const auto patch = Json::parse(open_patch(held, {true, "window", "it \"began\"\n", kNow}, kNow));
  EXPECT_EQ(patch[0], (Json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u1"}}));
  const auto after = a_pod().patch(patch);
  EXPECT_EQ(after["spec"]["schedulingGates"], Json::parse(R"([{"name":"other"}])"));
  EXPECT_EQ(after["metadata"]["labels"]["tidewatt.io/opened"], "window");
  EXPECT_EQ(after["metadata"]["annotations"]["tidewatt.io/decision"], "it \"began\"\n");
  EXPECT_EQ(after["metadata"]["annotations"]["tidewatt.io/opened-at"], "2026-11-29T08:00:00Z");
  EXPECT_THROW((void)after.patch(patch), Json::exception) << "not a second time";
  auto another = a_pod();
  another["metadata"]["uid"] = "u2";
  EXPECT_THROW((void)another.patch(patch), Json::exception);
}

TEST(OpenPatch, OverwritesNoAnnotationsThatItDidNotSee) {
  auto bare = a_pod();
  bare["metadata"].erase("annotations");
  bare["metadata"].erase("labels");
  const auto held = *read_held(ObjectKind::pod, bare.dump());
  const auto patch = Json::parse(open_patch(held, {true, "window", "why", kNow}, kNow));
  EXPECT_EQ(bare.patch(patch)["metadata"]["labels"], (Json{{"tidewatt.io/opened", "window"}}));
  auto changed = a_pod();
  changed["metadata"]["resourceVersion"] = "8";
  EXPECT_THROW((void)changed.patch(patch), Json::exception);
}

TEST(PlanPatch, PutsTheLatestStartOnWhatHasNone) {
  auto job = Json::parse(
      R"({"metadata":{"name":"j","uid":"u","creationTimestamp":"2026-11-29T08:00:00Z","labels":{"carbon-tolerance":"daily"},
    "annotations":{"tidewatt.io/suspended-until-clean":"hold"}},"spec":{"suspend":true}})");
  const auto held = *read_held(ObjectKind::job, job.dump());
  const auto after = job.patch(Json::parse(plan_patch(held, kNow + std::chrono::hours{3}, "why")));
  EXPECT_EQ(after["metadata"]["annotations"]["tidewatt.io/planned-start"], "2026-11-29T11:00:00Z");
  EXPECT_EQ(after["metadata"]["annotations"]["tidewatt.io/latest-start"], "2026-11-30T08:00:00Z");
  EXPECT_EQ(after["spec"]["suspend"], true);
  const auto resumed = after.patch(Json::parse(open_patch(held, {true, "window", "why", kNow}, kNow)));
  EXPECT_EQ(resumed["spec"]["suspend"], false);
}

TEST(AccountPatch, LeavesOutWhatIsUnknown) {
  const auto held = *read_held(ObjectKind::pod, a_pod().dump());
  const auto after = a_pod().patch(Json::parse(account_patch(held, {1.5, {}, "no factor"})));
  const auto& notes = after["metadata"]["annotations"];
  EXPECT_EQ(notes["tidewatt.io/energy-kwh"], "1.5");
  EXPECT_FALSE(notes.contains("tidewatt.io/carbon-kgco2e"));
  EXPECT_EQ(notes["tidewatt.io/carbon-missing"], "no factor");
}

TEST(EventJson, HasTheSameNameForTheSameThing) {
  const auto held = *read_held(ObjectKind::pod, a_pod().dump());
  const auto first = Json::parse(event_json(held, "R", "m", false, "one", kNow));
  EXPECT_EQ(first["metadata"]["name"],
            Json::parse(event_json(held, "R", "n", false, "two", kNow))["metadata"]["name"]);
  EXPECT_NE(first["metadata"]["name"],
            Json::parse(event_json(held, "S", "m", false, "one", kNow))["metadata"]["name"]);
  EXPECT_EQ(first["involvedObject"]["uid"], "u1");
}

TEST(Lease, ReadsWhatItWrites) {
  const k8s::LeaseRecord record{"me", 15, kNow, kNow + Milliseconds{1234}, 3, "41"};
  const auto text = lease_json("ns", "lease", record);
  EXPECT_NE(text.find("\"2026-11-29T08:00:01.234000Z\""), std::string::npos) << "six digits: " << text;
  const auto read = read_lease(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->holder, "me");
  EXPECT_EQ(read->duration_s, 15);
  EXPECT_EQ(read->renewed, record.renewed);
  EXPECT_EQ(read->transitions, 3);
  EXPECT_EQ(read->resource_version, "41");
  EXPECT_FALSE(read_lease(R"({"metadata":{},"spec":null})"));
}

TEST(StatusMessage, IsOneBoundedLine) {
  EXPECT_EQ(status_message(422, R"({"message":"a\nb"})"), "a b (422)");
  EXPECT_EQ(status_message(500, "<html>"), "status 500");
}

}  // namespace
}  // namespace tidewatt::k8s_json
