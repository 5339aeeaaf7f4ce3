// Bodies of OTLP/HTTP requests for traces, in both encodings.
#include "tidewatt/otlp/traces.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

namespace tidewatt::otlp {
namespace {

const std::string kTrace = "\x0a\x0b\x0c\x0d\x01\x02\x03\x04\x05\x06\x07\x08\x09\x10\x11\x12";
const std::string kTraceHex = "0a0b0c0d010203040506070809101112";

void add_attribute(protozero::pbf_writer& to, std::uint32_t tag, const std::string& key,
                   const std::string& text) {
  protozero::pbf_writer attribute{to, tag};
  attribute.add_string(1, key);
  protozero::pbf_writer value{attribute, 2};
  value.add_string(1, text);
}

struct Sent {
  std::string trace = kTrace;
  std::string id = "\x01\x02\x03\x04\x05\x06\x07\x08";
  std::string parent{};
  std::uint64_t begin = 1'000'000'000;
  std::uint64_t end = 2'000'000'001;
};

std::string body_of(const std::vector<Sent>& spans) {
  std::string body;
  protozero::pbf_writer request{body};
  protozero::pbf_writer resource_spans{request, 1};
  {
    protozero::pbf_writer scope{resource_spans, 2};  // before the resource: any order is fine
    for (const auto& sent : spans) {
      protozero::pbf_writer span{scope, 2};
      span.add_bytes(1, sent.trace);
      span.add_bytes(2, sent.id);
      if (!sent.parent.empty()) span.add_bytes(4, sent.parent);
      span.add_string(5, "GET");
      span.add_enum(6, 2);
      span.add_fixed64(7, sent.begin);
      span.add_fixed64(8, sent.end);
      add_attribute(span, 9, "http.route", "/users/{id}");
      add_attribute(span, 9, "http.request.method", "GET");
      protozero::pbf_writer status{span, 15};
      status.add_enum(3, 2);
    }
  }
  protozero::pbf_writer resource{resource_spans, 1};
  add_attribute(resource, 1, "service.name", "shop");
  add_attribute(resource, 1, "tidewatt.task_id", "shop-1");
  add_attribute(resource, 1, "k8s.pod.uid", "u-1");
  return body;
}

const std::string kJson =
    R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},
{"key":"tidewatt.task_id","value":{"stringValue":"shop-1"}},{"key":"k8s.pod.uid","value":{"stringValue":"u-1"}}]},
"scopeSpans":[{"scope":{"name":"x"},"spans":[{"traceId":"0A0B0C0D010203040506070809101112","spanId":"0102030405060708",
"name":"GET","kind":2,"startTimeUnixNano":"1000000000","endTimeUnixNano":2000000001,"flags":257,"status":{"code":2},
"attributes":[{"key":"http.route","value":{"stringValue":"/users/{id}"}},{"key":"http.request.method","value":{"stringValue":"GET"}},
{"key":"http.response.status_code","value":{"intValue":"500"}}]}]}]}]})";

TEST(OtlpTraces, BothEncodingsSayTheSame) {
  for (const auto& parsed :
       {parse_traces(body_of({{}}), Encoding::protobuf), parse_traces(kJson, Encoding::json)}) {
    ASSERT_TRUE(parsed) << parsed.error().to_string();
    EXPECT_EQ(parsed->unusable, 0U);
    ASSERT_EQ(parsed->resources.size(), 1U);
    const auto& sent = parsed->resources[0];
    EXPECT_EQ(sent.sender.service, "shop");
    EXPECT_EQ(sent.sender.cluster, "default");
    EXPECT_EQ(sent.sender.task_id, "shop-1");
    EXPECT_EQ(sent.sender.candidates, std::vector<std::string>{"pod/u-1"});
    ASSERT_EQ(sent.spans.size(), 1U);
    const auto& span = sent.spans[0];
    EXPECT_EQ(traces::to_string(span.trace), kTraceHex);
    EXPECT_EQ(span.id, 0x0102030405060708U);
    EXPECT_EQ(span.parent, 0U);
    EXPECT_EQ(span.begin.time_since_epoch().count(), 1'000'000'000);
    EXPECT_EQ((span.end - span.begin).count(), 1'000'000'001);
    EXPECT_EQ(span.route, "GET /users/{id}");
    EXPECT_TRUE(span.entry);
    EXPECT_TRUE(span.failed);
  }
}

TEST(OtlpTraces, ASpanWithoutIdsOrTimesIsLeftOutAlone) {
  const auto parsed = parse_traces(body_of({{},
                                            {.trace = std::string(16, '\0')},
                                            {.trace = "short"},
                                            {.id = std::string(8, '\0')},
                                            {.begin = 5, .end = 4},
                                            {.begin = 0},
                                            {.end = ~std::uint64_t{0}}}),
                                   Encoding::protobuf);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->unusable, 6U);
  EXPECT_EQ(parsed->resources.at(0).spans.size(), 1U);
}

TEST(OtlpTraces, AnEmptyRequestIsFine) {
  EXPECT_TRUE(parse_traces("", Encoding::protobuf)->resources.empty());
  EXPECT_TRUE(parse_traces("{}", Encoding::json)->resources.empty());
}

TEST(OtlpTraces, WhatIsNoRequestIsRefusedAsAWhole) {
  for (const auto* body :
       {"[]", "x", "", "{\"resourceSpans\":{}}", "{\"resourceSpans\":[{\"scopeSpans\":1}]}"})
    EXPECT_FALSE(parse_traces(body, Encoding::json)) << body;
  const std::string deep = std::string(100'000, '[');
  EXPECT_FALSE(parse_traces("{\"resourceSpans\":" + deep, Encoding::json));
  // A field of another type, and a length beyond the end.
  for (const std::string& body : {std::string{"\x08\x01"}, std::string{"\x0a\x7f\x0a"}})
    EXPECT_FALSE(parse_traces(body, Encoding::protobuf));
}

TEST(OtlpTraces, BoundsAreOfTheWholeRequest) {
  const auto parsed = parse_traces(body_of({{}, {}, {}}), Encoding::protobuf, {.spans = 2});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "more than 2 spans in a request");
  EXPECT_FALSE(parse_traces(kJson, Encoding::json, {.attributes = 2}));
}

TEST(OtlpTraces, NamesAreCutAndPrintable) {
  const auto text =
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"a\nb"}}]},
"scopeSpans":[{"spans":[{"traceId":")" +
      kTraceHex + R"(","spanId":"0102030405060708","startTimeUnixNano":"1","endTimeUnixNano":"2","name":")" +
      std::string(1'000, 'x') + R"("}]}]}]})";
  const auto parsed = parse_traces(text, Encoding::json);
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(parsed->resources.at(0).sender.service, "a?b");
  EXPECT_EQ(parsed->resources.at(0).spans.at(0).route.size(), kLongestName);
}

TEST(OtlpTraces, AnswersSayHowManyWereRejectedAndWhy) {
  EXPECT_EQ(traces_answer(Encoding::json, 0, ""), "{}");
  EXPECT_EQ(traces_answer(Encoding::json, 3, "no task"),
            R"({"partialSuccess":{"errorMessage":"no task","rejectedSpans":"3"}})");
  EXPECT_EQ(traces_answer(Encoding::protobuf, 0, ""), "");
  EXPECT_EQ(traces_answer(Encoding::protobuf, 3, "no"), std::string("\x0a\x06\x08\x03\x12\x02no"));
}

}  // namespace
}  // namespace tidewatt::otlp
