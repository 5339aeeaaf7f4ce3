#include "tidewatt/k8s/manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tidewatt::k8s {
namespace {

// In all of them: {0} namespace, {1} image, {2} CA bundle, {3} storage.

/// Neither server nor agent asks the API server anything: their accounts have no role and no token.
constexpr std::string_view kAccounts = R"(apiVersion: v1
kind: Namespace
metadata: {{name: {0}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: tidewatt-server, namespace: {0}}}
automountServiceAccountToken: false
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: tidewatt-agent, namespace: {0}}}
automountServiceAccountToken: false
---
)";

constexpr std::string_view kServer = R"(apiVersion: v1
kind: ConfigMap
metadata: {{name: tidewatt-server, namespace: {0}}}
data:
  server.yaml: |
    listen: 0.0.0.0:7310
    tls: {{certificate: /tls/tls.crt, key: /tls/tls.key}}
    data: /data
    kubernetes: {{listen: "0.0.0.0:7313", namespace: {0}}}
    keda: {{listen: "0.0.0.0:7312"}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: tidewatt-server, namespace: {0}, labels: {{app: tidewatt-server}}}}
spec:
  serviceName: tidewatt
  replicas: 1
  selector: {{matchLabels: {{app: tidewatt-server}}}}
  template:
    metadata: {{labels: {{app: tidewatt-server}}}}
    spec:
      serviceAccountName: tidewatt-server
      automountServiceAccountToken: false
      securityContext: {{runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {{type: RuntimeDefault}}}}
      containers:
      - name: server
        image: "{1}"
        command: [tidewatt, server, --config, /config/server.yaml]
        ports:
        - {{name: api, containerPort: 7310}}
        - {{name: keda, containerPort: 7312}}
        - {{name: control-plane, containerPort: 7313}}
        readinessProbe: {{httpGet: {{path: /readyz, port: control-plane, scheme: HTTPS}}, periodSeconds: 5}}
        livenessProbe: {{httpGet: {{path: /healthz, port: control-plane, scheme: HTTPS}}, periodSeconds: 20}}
        resources: {{requests: {{cpu: 100m, memory: 128Mi}}, limits: {{memory: 2Gi}}}}
        securityContext: {{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {{drop: [ALL]}}}}
        volumeMounts:
        - {{name: data, mountPath: /data}}
        - {{name: config, mountPath: /config, readOnly: true}}
        - {{name: tls, mountPath: /tls, readOnly: true}}
      volumes:
      - {{name: config, configMap: {{name: tidewatt-server}}}}
      - {{name: tls, secret: {{secretName: tidewatt-tls}}}}
  volumeClaimTemplates:
  - metadata: {{name: data}}
    spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: "{3}"}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: tidewatt, namespace: {0}}}
spec:
  selector: {{app: tidewatt-server}}
  ports:
  - {{name: api, port: 7310, targetPort: api}}
  - {{name: keda, port: 7312, targetPort: keda}}
  - {{name: control-plane, port: 7313, targetPort: control-plane}}
---
)";

/// The two ports that ask nobody who they are are for KEDA and for the control plane, whose address only the
/// cluster's own network plug-in knows: its rule stands here to be narrowed.
constexpr std::string_view kNetwork = R"(apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: tidewatt-server, namespace: {0}}}
spec:
  podSelector: {{matchLabels: {{app: tidewatt-server}}}}
  policyTypes: [Ingress]
  ingress:
  - ports: [{{port: 7310}}]
  - from: [{{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: keda}}}}}}]
    ports: [{{port: 7312}}]
  - from: [{{ipBlock: {{cidr: 0.0.0.0/0}}}}] # narrow it to the control plane's addresses
    ports: [{{port: 7313}}]
---
)";

constexpr std::string_view kAgent = R"(apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: tidewatt-agent, namespace: {0}, labels: {{app: tidewatt-agent}}}}
spec:
  selector: {{matchLabels: {{app: tidewatt-agent}}}}
  template:
    metadata: {{labels: {{app: tidewatt-agent}}}}
    spec:
      serviceAccountName: tidewatt-agent
      automountServiceAccountToken: false
      tolerations: [{{operator: Exists}}]
      containers:
      - name: agent
        image: "{1}"
        command: [tidewatt-agent, --server, "https://tidewatt.{0}.svc:7310", --ca-file, /tls/ca.crt, --token-file, /token/agent.token, --node-id, $(NODE_NAME), --host-root, /host]
        env: [{{name: NODE_NAME, valueFrom: {{fieldRef: {{fieldPath: spec.nodeName}}}}}}]
        resources: {{requests: {{cpu: 20m, memory: 32Mi}}, limits: {{memory: 512Mi}}}}
        securityContext: {{runAsUser: 0, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {{drop: [ALL], add: [DAC_READ_SEARCH]}}}}
        volumeMounts:
        - {{name: proc, mountPath: /host/proc, readOnly: true}}
        - {{name: sys, mountPath: /host/sys, readOnly: true}}
        - {{name: spool, mountPath: /var/lib/tidewatt-agent}}
        - {{name: tls, mountPath: /tls, readOnly: true}}
        - {{name: token, mountPath: /token, readOnly: true}}
      volumes:
      - {{name: proc, hostPath: {{path: /proc}}}}
      - {{name: sys, hostPath: {{path: /sys}}}}
      - {{name: spool, hostPath: {{path: /var/lib/tidewatt-agent, type: DirectoryOrCreate}}}}
      - {{name: tls, secret: {{secretName: tidewatt-tls, items: [{{key: ca.crt, path: ca.crt}}]}}}}
      - {{name: token, secret: {{secretName: tidewatt-agent, items: [{{key: agent.token, path: agent.token}}]}}}}
)";

/// Opens gates and resumes Jobs; two of them, one acts. Patching pods and Jobs is all it may change outside
/// its namespace; RBAC can't narrow that to gates. {4} the flags of the carbon zone
constexpr std::string_view kController = R"(---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: tidewatt-controller, namespace: {0}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: tidewatt-controller}}
rules:
- {{apiGroups: [""], resources: [pods], verbs: [get, list, watch, patch]}}
- {{apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, patch]}}
- {{apiGroups: [""], resources: [events], verbs: [create]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: tidewatt-controller}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: tidewatt-controller}}
subjects: [{{kind: ServiceAccount, name: tidewatt-controller, namespace: {0}}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: tidewatt-controller, namespace: {0}}}
rules:
- {{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}}
- {{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [tidewatt-controller], verbs: [get, update]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: tidewatt-controller, namespace: {0}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: tidewatt-controller}}
subjects: [{{kind: ServiceAccount, name: tidewatt-controller, namespace: {0}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: tidewatt-controller, namespace: {0}, labels: {{app: tidewatt-controller}}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: tidewatt-controller}}}}
  template:
    metadata: {{labels: {{app: tidewatt-controller}}}}
    spec:
      serviceAccountName: tidewatt-controller
      securityContext: {{runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {{type: RuntimeDefault}}}}
      containers:
      - name: controller
        image: "{1}"
        command: [tidewatt, k8s, controller, --server, "https://tidewatt.{0}.svc:7310", --ca-file, /tls/ca.crt, --token-file, /token/viewer.token{4}]
        resources: {{requests: {{cpu: 10m, memory: 32Mi}}, limits: {{memory: 512Mi}}}}
        securityContext: {{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {{drop: [ALL]}}}}
        volumeMounts:
        - {{name: tls, mountPath: /tls, readOnly: true}}
        - {{name: token, mountPath: /token, readOnly: true}}
      volumes:
      - {{name: tls, secret: {{secretName: tidewatt-tls, optional: true, items: [{{key: ca.crt, path: ca.crt}}]}}}}
      - {{name: token, secret: {{secretName: tidewatt-controller, optional: true}}}} # without it gates open at their latest start
---
apiVersion: batch/v1
kind: CronJob
metadata: {{name: tidewatt-ungate, namespace: {0}, labels: {{app: tidewatt-ungate}}}}
spec:
  schedule: "*/5 * * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        metadata: {{labels: {{app: tidewatt-ungate}}}}
        spec:
          serviceAccountName: tidewatt-controller
          restartPolicy: Never
          securityContext: {{runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {{type: RuntimeDefault}}}}
          containers:
          - name: ungate
            image: "{1}"
            command: [tidewatt, k8s, ungate, --expired]
            resources: {{requests: {{cpu: 10m, memory: 16Mi}}, limits: {{memory: 256Mi}}}}
            securityContext: {{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {{drop: [ALL]}}}}
)";

/// {4} kind, {5} name, {6} path, {7} what else is asked about, {8} more fields
constexpr std::string_view kWebhook = R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: {4}
metadata: {{name: tidewatt}}
webhooks:
- name: {5}.tidewatt.io
  clientConfig:
    service: {{namespace: {0}, name: tidewatt, port: 7313, path: {6}}}
    caBundle: {2}
  rules:
  - {{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}}
{7}  namespaceSelector:
    matchExpressions:
    - {{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kube-public, kube-node-lease, {0}]}}
{8}  failurePolicy: Ignore
  sideEffects: NoneOnDryRun
  timeoutSeconds: 2
  admissionReviewVersions: [v1]
)";

bool made_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
  });
}

constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

std::string manifest_problem(const ManifestOptions& options) {
  constexpr std::size_t kLongestName = 63;
  constexpr std::size_t kLongest = 255;
  const auto& name = options.name_space;
  if (name.empty() || name.size() > kLongestName || !made_of(name, "-") || name.front() == '-' ||
      name.back() == '-')
    return fmt::format("\"{}\" is no name of a namespace", name);
  if (options.image.empty() || options.image.size() > kLongest ||
      !made_of(options.image, std::string{kCapitals} + "-._/:@"))
    return fmt::format("\"{}\" is no image, like registry.example/tidewatt:0.1.0", options.image);
  if (!made_of(options.ca_bundle_base64, std::string{kCapitals} + "+/=")) return "the CA bundle is no base64";
  if (options.storage.empty() || !made_of(options.storage, std::string{kCapitals} + "."))
    return fmt::format("\"{}\" is no size, like 10Gi", options.storage);
  constexpr std::size_t kLongestZone = 64;
  if (options.zone.size() > kLongestZone || !made_of(options.zone, std::string{kCapitals} + "-_"))
    return fmt::format("\"{}\" is no carbon zone, like DE", options.zone);
  return {};
}

std::string manifests(const ManifestOptions& options) {
  std::string out;
  const auto add = [&](std::string_view text, std::string_view kind = {}, std::string_view name = {},
                       std::string_view path = {}, std::string_view rules = {}, std::string_view more = {}) {
    out += fmt::format(fmt::runtime(text), options.name_space, options.image, options.ca_bundle_base64,
                       options.storage, kind, name, path, rules, more);
  };
  for (const auto text : {kAccounts, kServer, kNetwork, kAgent}) add(text);
  add(kController, options.zone.empty() ? std::string{} : fmt::format(", --zone, \"{}\"", options.zone));
  if (options.ca_bundle_base64.empty()) return out;
  add(kWebhook, "MutatingWebhookConfiguration", "clean-window", "/k8s/admission/mutate", {},
      "    matchLabels: {tidewatt.io/clean-window: enabled}\n  reinvocationPolicy: IfNeeded\n");
  add(kWebhook, "ValidatingWebhookConfiguration", "quota", "/k8s/admission/validate",
      "  - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}\n");
  return out;
}

}  // namespace tidewatt::k8s
