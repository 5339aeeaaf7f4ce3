#include "tidewatt/keda_grpc/scaler.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "externalscaler.grpc.pb.h"
#include "tidewatt/base/log.h"

namespace tidewatt::keda_grpc {
namespace {

constexpr int kLargestRequest = 64 << 10;
constexpr int kThreadsBesideStreams = 16;
constexpr unsigned kLookAtFilesSeconds = 10;

class Service final : public externalscaler::ExternalScaler::Service {
 public:
  Service(const ScalerOptions& options, ReplicasOf replicas_of)
      : look_(options.look), most_streams_(options.most_streams), replicas_of_(std::move(replicas_of)) {}

  grpc::Status IsActive(grpc::ServerContext*, const externalscaler::ScaledObjectRef* object,
                        externalscaler::IsActiveResponse* answer) override {
    int replicas = 0;
    if (auto refused = wanted(*object, replicas); !refused.ok()) return refused;
    answer->set_result(replicas > 0);
    return grpc::Status::OK;
  }

  grpc::Status StreamIsActive(grpc::ServerContext* context, const externalscaler::ScaledObjectRef* object,
                              grpc::ServerWriter<externalscaler::IsActiveResponse>* writer) override {
    const Place place{streams_};
    if (place.number > most_streams_)
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many streams are open: use type external"};
    std::optional<bool> told;
    do {
      int replicas = 0;
      if (auto refused = wanted(*object, replicas); !refused.ok()) return refused;
      const bool active = replicas > 0;
      if (told == active) continue;
      externalscaler::IsActiveResponse answer;
      answer.set_result(active);
      if (!writer->Write(answer)) return grpc::Status::CANCELLED;
      told = active;
    } while (goes_on(*context));
    return grpc::Status::OK;
  }

  grpc::Status GetMetricSpec(grpc::ServerContext*, const externalscaler::ScaledObjectRef* object,
                             externalscaler::GetMetricSpecResponse* answer) override {
    int replicas = 0;
    if (auto refused = wanted(*object, replicas); !refused.ok()) return refused;
    auto* spec = answer->add_metricspecs();
    spec->set_metricname("tidewatt-" + policy_of(*object));
    // Each replica accounts for one: the autoscaler wants as many replicas as the metric says.
    spec->set_targetsize(1);
    spec->set_targetsizefloat(1);
    return grpc::Status::OK;
  }

  grpc::Status GetMetrics(grpc::ServerContext*, const externalscaler::GetMetricsRequest* request,
                          externalscaler::GetMetricsResponse* answer) override {
    int replicas = 0;
    if (auto refused = wanted(request->scaledobjectref(), replicas); !refused.ok()) return refused;
    auto* value = answer->add_metricvalues();
    value->set_metricname(request->metricname());
    // KEDA reads the first where the second isn't above 0.
    value->set_metricvalue(replicas);
    value->set_metricvaluefloat(replicas);
    return grpc::Status::OK;
  }

  void stop() {
    {
      const std::scoped_lock lock{mutex_};
      stopping_ = true;
    }
    wake_.notify_all();
  }

 private:
  struct Place {
    explicit Place(std::atomic<std::size_t>& streams) : count(streams), number(++streams) {}
    ~Place() { --count; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    std::atomic<std::size_t>& count;
    std::size_t number;
  };

  static std::string policy_of(const externalscaler::ScaledObjectRef& object) {
    const auto found = object.scalermetadata().find("policy");
    return found == object.scalermetadata().end() ? std::string{} : found->second;
  }

  grpc::Status wanted(const externalscaler::ScaledObjectRef& object, int& replicas) const {
    const auto policy = policy_of(object);
    if (policy.empty())
      return {grpc::StatusCode::INVALID_ARGUMENT, "the trigger's metadata has no policy: add policy: NAME"};
    const auto found = replicas_of_(policy);
    if (!found)
      return {grpc::StatusCode::NOT_FOUND,
              "there is no policy \"" + policy.substr(0, 64) + "\": see keda.policies"};
    replicas = *found;
    return grpc::Status::OK;
  }

  /// Waits until the next look. @return false = the caller is gone, or the server stops
  bool goes_on(const grpc::ServerContext& context) {
    constexpr Milliseconds kNotice{250};
    for (Milliseconds waited{0}; waited < look_; waited += kNotice) {
      if (context.IsCancelled()) return false;
      std::unique_lock lock{mutex_};
      if (wake_.wait_for(lock, std::min(kNotice, look_ - waited), [this] { return stopping_; })) return false;
    }
    return !context.IsCancelled();
  }

  const Milliseconds look_;
  const std::size_t most_streams_;
  const ReplicasOf replicas_of_;
  std::atomic<std::size_t> streams_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
};

std::shared_ptr<grpc::ServerCredentials> credentials(const ScalerOptions& options) {
  if (options.tls_certificate_file.empty()) return grpc::InsecureServerCredentials();
  auto files = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      options.tls_key_file, options.tls_certificate_file, kLookAtFilesSeconds);
  grpc::experimental::TlsServerCredentialsOptions tls{std::move(files)};
  tls.watch_identity_key_cert_pairs();
  tls.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  return grpc::experimental::TlsServerCredentials(tls);
}

/// gRPC's own lines go where all lines go: its debug level is for those who write gRPC.
void take_log_line(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_ERROR)
    log::warning("gRPC", {{"message", std::string{line->message}}});
}

class Listening final : public Scaler {
 public:
  Listening(const ScalerOptions& options, ReplicasOf replicas_of)
      : service_(options, std::move(replicas_of)) {
    const bool v6 = options.address.find(':') != std::string::npos;
    const auto host = v6 ? "[" + options.address + "]" : options.address;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(host + ":" + std::to_string(options.port), credentials(options), &port_);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(kLargestRequest);
    // Another process on the same port would get half of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    grpc::ResourceQuota quota;
    quota.SetMaxThreads(static_cast<int>(options.most_streams) + kThreadsBesideStreams);
    builder.SetResourceQuota(quota);
    server_ = builder.BuildAndStart();
  }
  ~Listening() override {
    service_.stop();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds{1});
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  [[nodiscard]] bool serves() const { return server_ != nullptr && port_ > 0; }
  [[nodiscard]] std::uint16_t port() const override { return static_cast<std::uint16_t>(port_); }

 private:
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Scaler>> Scaler::listen(const ScalerOptions& options, ReplicasOf replicas_of) {
  gpr_set_log_function(take_log_line);
  auto listening = std::make_unique<Listening>(options, std::move(replicas_of));
  if (!listening->serves())
    return fail(ErrorCode::conflict,
                "can't listen on " + options.address + ":" + std::to_string(options.port),
                "is the address this machine's, and the port free?");
  return std::unique_ptr<Scaler>{std::move(listening)};
}

}  // namespace tidewatt::keda_grpc
