// A real gRPC client on loopback.
#include "tidewatt/keda_grpc/scaler.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <atomic>

#include "externalscaler.grpc.pb.h"

namespace tidewatt::keda_grpc {
namespace {

using namespace externalscaler;

class Keda : public ::testing::Test {
 protected:
  Keda() {
    ScalerOptions options;
    options.look = Milliseconds{10};
    options.most_streams = 1;
    auto made = Scaler::listen(options, [this](std::string_view policy) -> std::optional<int> {
      return policy == "batch" ? std::optional{replicas_.load()} : std::nullopt;
    });
    EXPECT_TRUE(made) << made.error().to_string();
    scaler_ = *std::move(made);
    stub_ = ExternalScaler::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(scaler_->port()),
                                                        grpc::InsecureChannelCredentials()));
  }
  static ScaledObjectRef object(const std::string& policy = "batch") {
    ScaledObjectRef made;
    made.set_name("worker");
    made.set_namespace_("batch");
    (*made.mutable_scalermetadata())["scalerAddress"] = "tidewatt:7312";
    if (!policy.empty()) (*made.mutable_scalermetadata())["policy"] = policy;
    return made;
  }
  MetricValue metric() {
    GetMetricsRequest request;
    *request.mutable_scaledobjectref() = object();
    request.set_metricname("tidewatt-batch");
    GetMetricsResponse answer;
    grpc::ClientContext context;
    const auto status = stub_->GetMetrics(&context, request, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(answer.metricvalues_size(), 1);
    return answer.metricvalues(0);
  }

  std::atomic<int> replicas_{4};
  std::unique_ptr<Scaler> scaler_;
  std::unique_ptr<ExternalScaler::Stub> stub_;
};

TEST_F(Keda, TheMetricIsTheReplicasAndItsTargetIsOne) {
  GetMetricSpecResponse spec;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->GetMetricSpec(&context, object(), &spec).ok());
  ASSERT_EQ(spec.metricspecs_size(), 1);
  EXPECT_EQ(spec.metricspecs(0).metricname(), "tidewatt-batch");
  EXPECT_EQ(spec.metricspecs(0).targetsizefloat(), 1);
  const auto value = metric();
  EXPECT_EQ(value.metricname(), "tidewatt-batch");
  EXPECT_EQ(value.metricvaluefloat(), 4);
}

TEST_F(Keda, NoneIsReallyNone) {
  replicas_ = 0;
  const auto value = metric();
  EXPECT_EQ(value.metricvalue(), 0);
  EXPECT_EQ(value.metricvaluefloat(), 0);
  IsActiveResponse active;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->IsActive(&context, object(), &active).ok());
  EXPECT_FALSE(active.result());
}

TEST_F(Keda, WhatHasNoPolicyIsToldSo) {
  for (const auto& [policy, code] : {std::pair{"", grpc::StatusCode::INVALID_ARGUMENT},
                                     std::pair{"nobody", grpc::StatusCode::NOT_FOUND}}) {
    IsActiveResponse answer;
    grpc::ClientContext context;
    const auto status = stub_->IsActive(&context, object(policy), &answer);
    EXPECT_EQ(status.error_code(), code) << policy;
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr("policy"));
  }
}

TEST_F(Keda, AStreamTellsOfEachChange) {
  grpc::ClientContext context;
  const auto stream = stub_->StreamIsActive(&context, object());
  IsActiveResponse active;
  ASSERT_TRUE(stream->Read(&active));
  EXPECT_TRUE(active.result());
  replicas_ = 0;
  ASSERT_TRUE(stream->Read(&active));
  EXPECT_FALSE(active.result());
  // One stream is the most here.
  grpc::ClientContext second;
  const auto another = stub_->StreamIsActive(&second, object());
  EXPECT_FALSE(another->Read(&active));
  EXPECT_EQ(another->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  context.TryCancel();
  stream->Finish();
}

TEST_F(Keda, StoppingEndsOpenStreams) {
  grpc::ClientContext context;
  const auto stream = stub_->StreamIsActive(&context, object());
  IsActiveResponse active;
  ASSERT_TRUE(stream->Read(&active));
  scaler_.reset();
  EXPECT_FALSE(stream->Read(&active));
  stream->Finish();
}

TEST_F(Keda, APortThatIsTakenIsAnError) {
  ScalerOptions options;
  options.port = scaler_->port();
  EXPECT_FALSE(Scaler::listen(options, [](std::string_view) { return std::optional{1}; }));
}

}  // namespace
}  // namespace tidewatt::keda_grpc
