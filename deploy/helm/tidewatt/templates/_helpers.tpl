{{/* of each container that needs nothing of its node */}}
{{ define "tidewatt.restricted" }}{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}{{ end }}
