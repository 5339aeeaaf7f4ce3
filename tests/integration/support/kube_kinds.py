"""Small schemas of the Kubernetes kinds that we print: known fields alone, so that a misspelt one is found. What a
cluster's API server would say beyond that is not in them."""

NAME = {"type": "string", "pattern": "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$"}
STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
LABELS = {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[A-Za-z0-9._-]{0,63}$"}}
NAMES = {"type": "array", "items": {"type": "string"}, "minItems": 1}
ANY = {"type": "object"}


def shape(required=(), **properties):
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def items(of, least=1):
    return {"type": "array", "minItems": least, "items": of}


META = shape(["name"], name=NAME, namespace=NAME, labels=LABELS, annotations=STRINGS)
SELECTOR = shape(matchLabels=LABELS, matchExpressions=items(shape(["key", "operator"], key={"type": "string"}, operator={"enum": ["In", "NotIn", "Exists", "DoesNotExist"]}, values=NAMES)))
PORT = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 65535}, NAME]}
PROBE = shape(["httpGet"], httpGet=shape(["path", "port"], path={"type": "string", "pattern": "^/"}, port=PORT, scheme={"enum": ["HTTP", "HTTPS"]}), periodSeconds={"type": "integer", "minimum": 1})
KEYS = items(shape(["key", "path"], key={"type": "string"}, path={"type": "string"}))
RESOURCE = {"type": "object", "additionalProperties": False, "properties": {k: {"type": "string", "pattern": "^[0-9.]+(m|Ki|Mi|Gi|Ti)?$"} for k in ("cpu", "memory", "storage")}}
RESOURCES = shape(requests=RESOURCE, limits=RESOURCE)
CONTAINER = shape(
    ["name", "image"], name=NAME, image={"type": "string", "minLength": 1}, command=NAMES, args=NAMES, env=items(shape(["name"], name={"type": "string"}, value={"type": "string"}, valueFrom=ANY)),
    ports=items(shape(["containerPort"], name={**NAME, "maxLength": 15}, containerPort={"type": "integer"})), readinessProbe=PROBE, livenessProbe=PROBE, resources=RESOURCES,
    securityContext=shape(runAsUser={"type": "integer"}, allowPrivilegeEscalation={"const": False}, readOnlyRootFilesystem={"const": True},
                          capabilities=shape(["drop"], drop={"const": ["ALL"]}, add=NAMES)),
    volumeMounts=items(shape(["name", "mountPath"], name=NAME, mountPath={"type": "string", "pattern": "^/"}, readOnly={"type": "boolean"})))
VOLUME = shape(["name"], name=NAME, configMap=shape(["name"], name=NAME), hostPath=shape(["path"], path={"type": "string", "pattern": "^/"}, type={"type": "string"}),
               secret=shape(["secretName"], secretName=NAME, optional={"type": "boolean"}, items=KEYS), emptyDir=ANY)
POD_SPEC = shape(
    ["containers"], containers=items(CONTAINER), volumes=items(VOLUME), serviceAccountName=NAME, automountServiceAccountToken={"type": "boolean"}, restartPolicy={"enum": ["Always", "OnFailure", "Never"]},
    tolerations=items(ANY), nodeSelector=LABELS,
    securityContext=shape(runAsNonRoot={"const": True}, runAsUser={"type": "integer"}, runAsGroup={"type": "integer"}, fsGroup={"type": "integer"}, seccompProfile=ANY))
TEMPLATE = shape(["spec"], metadata=shape(labels=LABELS, annotations=STRINGS), spec=POD_SPEC)
WORKLOAD = {"replicas": {"type": "integer", "minimum": 0}, "selector": SELECTOR, "template": TEMPLATE}
RULE = shape(["apiGroups", "resources", "verbs"], apiGroups=items({"type": "string"}), resources=NAMES, resourceNames=NAMES,
             verbs=items({"enum": ["get", "list", "watch", "create", "update", "patch", "delete"]}))
ROLE_REF = shape(["apiGroup", "kind", "name"], apiGroup={"const": "rbac.authorization.k8s.io"}, kind={"enum": ["Role", "ClusterRole"]}, name=NAME)
SUBJECTS = items(shape(["kind", "name", "namespace"], kind={"const": "ServiceAccount"}, name=NAME, namespace=NAME))
WEBHOOK = shape(
    ["name", "clientConfig", "sideEffects", "admissionReviewVersions"], name={"type": "string", "pattern": r"^[a-z0-9-]+\.[a-z0-9-]+\.[a-z0-9.-]+$"},
    clientConfig=shape(["service", "caBundle"], service=shape(["namespace", "name"], namespace=NAME, name=NAME, port={"type": "integer"}, path={"type": "string"}), caBundle={"type": "string"}),
    rules=items(ANY), namespaceSelector=SELECTOR, reinvocationPolicy={"enum": ["Never", "IfNeeded"]}, failurePolicy={"const": "Ignore"}, sideEffects={"enum": ["None", "NoneOnDryRun"]},
    timeoutSeconds={"type": "integer", "minimum": 1, "maximum": 30}, admissionReviewVersions={"const": ["v1"]})
VALIDATING = {**WEBHOOK, "properties": {k: v for k, v in WEBHOOK["properties"].items() if k != "reinvocationPolicy"}}


def kind(version, **more):
    return shape(["apiVersion", "kind", "metadata", *more], apiVersion={"const": version}, kind={"type": "string"}, metadata=META, **more)


RBAC = "rbac.authorization.k8s.io/v1"
KINDS = {
    "Namespace": kind("v1"),
    "ServiceAccount": {**kind("v1"), "properties": {**kind("v1")["properties"], "automountServiceAccountToken": {"type": "boolean"}}},
    "ConfigMap": kind("v1", data=STRINGS),
    "Service": kind("v1", spec=shape(["selector", "ports"], selector=LABELS, ports=items(shape(["port"], name=NAME, port={"type": "integer"}, targetPort=PORT)))),
    "StatefulSet": kind("apps/v1", spec=shape(["serviceName", "selector", "template"], serviceName=NAME, volumeClaimTemplates=items(shape(
        ["metadata", "spec"], metadata=META, spec=shape(["accessModes", "resources"], accessModes=NAMES, resources=RESOURCES))), **WORKLOAD)),
    "DaemonSet": kind("apps/v1", spec=shape(["selector", "template"], selector=SELECTOR, template=TEMPLATE)),
    "Deployment": kind("apps/v1", spec=shape(["selector", "template"], **WORKLOAD)),
    "CronJob": kind("batch/v1", spec=shape(["schedule", "jobTemplate"], schedule={"type": "string"}, concurrencyPolicy={"enum": ["Allow", "Forbid", "Replace"]},
                                           jobTemplate=shape(["spec"], spec=shape(["template"], template=TEMPLATE)))),
    "NetworkPolicy": kind("networking.k8s.io/v1", spec=shape(["podSelector"], podSelector=SELECTOR, policyTypes=NAMES, ingress=items(shape(**{"from": items(ANY), "ports": items(ANY)})))),
    "ClusterRole": kind(RBAC, rules=items(RULE)),
    "Role": kind(RBAC, rules=items(RULE)),
    "ClusterRoleBinding": kind(RBAC, roleRef=ROLE_REF, subjects=SUBJECTS),
    "RoleBinding": kind(RBAC, roleRef=ROLE_REF, subjects=SUBJECTS),
    "MutatingWebhookConfiguration": kind("admissionregistration.k8s.io/v1", webhooks=items(WEBHOOK)),
    "ValidatingWebhookConfiguration": kind("admissionregistration.k8s.io/v1", webhooks=items(VALIDATING)),
    "ServiceMonitor": kind("monitoring.coreos.com/v1", spec=shape(["selector", "endpoints"], selector=SELECTOR, endpoints=items(ANY))),
}
