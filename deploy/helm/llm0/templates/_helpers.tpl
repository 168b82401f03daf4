{{- define "llm0.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Room is left for what names of other objects end in. */}}
{{- define "llm0.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "llm0.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "llm0.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "llm0.selectorLabels" -}}
app.kubernetes.io/name: {{ include "llm0.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "llm0.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "llm0.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "llm0.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "llm0.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "llm0.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "llm0.hasTrialStore" -}}
{{- if or .Values.postgres.enabled .Values.redis.enabled -}}yes{{- end -}}
{{- end -}}

{{- define "llm0.trialSecret" -}}
{{ include "llm0.fullname" . }}-trial
{{- end -}}

{{/* Replicas must share both stores: without one of them each pod would have limits and a log of its own. */}}
{{- define "llm0.requireStores" -}}
{{- range $variable, $store := dict "DATABASE_URL" "postgres" "REDIS_URL" "redis" -}}
{{- if not (or (get $.Values $store).enabled (get $.Values.secrets $variable) $.Values.secretName) -}}
{{- fail (printf "secretName or secrets.%s is needed ({name: <Secret>, key: <key in it>}), or %s.enabled for a trial" $variable $store) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where a variable comes from: its own entry, a trial's Secret, else the one Secret. */}}
{{- define "llm0.variable" -}}
{{- $from := get .root.Values.secrets .variable -}}
{{- if $from -}}
{{ include "llm0.secretEnv" (dict "variable" .variable "from" $from) }}
{{- else if and .trialKey (include "llm0.hasTrialStore" .root) -}}
{{ include "llm0.secretEnv" (dict "variable" .variable "from" (dict "name" (include "llm0.trialSecret" .root) "key" .trialKey)) }}
{{- else if .root.Values.secretName -}}
{{ include "llm0.secretEnv" (dict "variable" .variable "from" (dict "name" .root.Values.secretName "key" .variable "optional" .optional)) }}
{{- end -}}
{{- end -}}

{{/* Taken from the one Secret where they are in it. */}}
{{- define "llm0.optionalVariables" -}}
{{- if not .Values.redis.enabled }}REDIS_PASSWORD {{ end -}}
METRICS_TOKEN ENCRYPTION_KEY_PREVIOUS OIDC_CLIENT_SECRET SMTP_URL VAULT_TOKEN OTEL_EXPORTER_OTLP_HEADERS LOG_DATABASE_URL EMBEDDING_SERVICE_KEY AWS_SESSION_TOKEN OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY AZURE_OPENAI_API_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_BEARER_TOKEN_BEDROCK VERTEX_API_KEY GROQ_API_KEY TOGETHER_API_KEY DEEPSEEK_API_KEY XAI_API_KEY MISTRAL_API_KEY OPENROUTER_API_KEY FIREWORKS_API_KEY COHERE_API_KEY VOYAGE_API_KEY JINA_API_KEY
{{- end -}}

{{- define "llm0.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "llm0.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Where the database is: all that a migration needs. */}}
{{- define "llm0.databaseEnv" -}}
{{- if .Values.postgres.enabled }}
- name: TRIAL_POSTGRES_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ include "llm0.trialSecret" . }}, key: postgres-password }
- name: DATABASE_URL
  value: postgres://llm0:$(TRIAL_POSTGRES_PASSWORD)@{{ include "llm0.fullname" . }}-postgres:5432/llm0
{{- else }}
{{ include "llm0.variable" (dict "root" . "variable" "DATABASE_URL") }}
{{- end }}
{{- end -}}

{{- define "llm0.secretEnv" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .from.name | quote }}
      key: {{ .from.key | quote }}
      {{- if .from.optional }}
      optional: true
      {{- end }}
{{- end -}}

{{/* DATA_DIR is a folder in the volume: the volume itself belongs to the node. */}}
{{- define "llm0.processEnv" -}}
- name: ENVIRONMENT
  value: {{ .Values.environment | quote }}
- name: LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
- name: DATA_DIR
  value: /data/llm0
{{- end -}}

{{/* Helm reads numbers as floats, and prints a million as 1e+06: JSON has them in full. */}}
{{- define "llm0.text" -}}
{{- ternary (toJson .) (toString .) (kindIs "float64" .) -}}
{{- end -}}

{{- define "llm0.plainEnv" -}}
{{- range $variable, $value := .Values.env }}
- name: {{ $variable }}
  value: {{ include "llm0.text" $value | quote }}
{{- end }}
{{- end -}}

{{- define "llm0.volumes" -}}
- name: data
  emptyDir:
    sizeLimit: {{ .Values.dataDir.sizeLimit }}
- name: tmp
  emptyDir: {}
{{- end -}}

{{- define "llm0.volumeMounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- end -}}

{{/* TLS_ENABLED in the pod: probes and Services speak it, too. */}}
{{- define "llm0.scheme" -}}
{{- ternary "https" "http" (has (.Values.env.TLS_ENABLED | toString | lower) (list "true" "t" "1" "yes" "on")) -}}
{{- end -}}

{{/* Ports that the gateway has to reach: those that are given, and those of addresses in `env`. */}}
{{- define "llm0.egressPorts" -}}
{{- $ports := list -}}
{{- range .Values.networkPolicy.egressPorts -}}
{{- $ports = append $ports (int64 .) -}}
{{- end -}}
{{- range $variable, $value := omit .Values.env "PUBLIC_URL" "CORS_ORIGINS" -}}
{{- with regexFind "^https?://[^/?#]+" (toString $value) -}}
{{- $port := regexFind ":[0-9]+$" . | trimPrefix ":" | default (ternary "443" "80" (hasPrefix "https" .)) -}}
{{- $ports = append $ports (int64 $port) -}}
{{- end -}}
{{- end -}}
{{- range uniq $ports }}
- { protocol: TCP, port: {{ . }} }
{{- end }}
{{- end -}}
