{{/* What a schema could only refuse without a reason: each failure says what to do instead, and never shows a value. */}}
{{- define "llm0.requireSettings" -}}
{{- if and .Values.admin.enabled (eq (int .Values.admin.port) (int .Values.gateway.port)) -}}
{{- fail "admin.port and gateway.port are the same: give them two ports, or set admin.enabled to false" -}}
{{- end -}}
{{- $own := dict "PORT" "gateway.port" "HOST" "" "ADMIN_PORT" "admin.port" "ADMIN_HOST" "" "DATA_DIR" "" "DRAIN_TIMEOUT" "drain.timeoutSeconds" "GATEWAY_WORKERS" "workers" "ENVIRONMENT" "environment" "LOG_LEVEL" "logLevel" "TRIAL_POSTGRES_PASSWORD" "" -}}
{{- if .Values.redis.enabled -}}
{{- $_ := set $own "REDIS_PASSWORD" "" -}}
{{- end -}}
{{- range $place := list "env" "secrets" -}}
{{- range $variable, $value := get $.Values $place -}}
{{- if and (hasKey $own $variable) (not (kindIs "invalid" $value)) -}}
{{- with get $own $variable -}}
{{- fail (printf "%s.%s is set by the chart: use %s" $place $variable .) -}}
{{- end -}}
{{- fail (printf "%s.%s is set by the chart: leave it out" $place $variable) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $variable, $value := .Values.env -}}
{{- if regexMatch "^(DATABASE_URL|REDIS_URL|ENCRYPTION_KEY|PGPASSWORD|AWS_ACCESS_KEY_ID|AWS_BEARER_TOKEN_BEDROCK|OTEL_EXPORTER_OTLP_([A-Z]+_)?HEADERS|.*_(API_KEY|TOKEN|PASSWORD|SECRET|SECRET_ACCESS_KEY|SERVICE_KEY))$" $variable -}}
{{- fail (printf "env.%s is a secret: use secrets.%s ({name: <Secret>, key: <key in it>})" $variable $variable) -}}
{{- end -}}
{{- if regexMatch "://[^/?#@]*:[^/?#@]+@" (toString $value) -}}
{{- fail (printf "env.%s holds a password: use secrets.%s ({name: <Secret>, key: <key in it>})" $variable $variable) -}}
{{- end -}}
{{- if get $.Values.secrets $variable -}}
{{- fail (printf "%s is in env and in secrets: leave one of them out" $variable) -}}
{{- end -}}
{{- end -}}
{{- end -}}
