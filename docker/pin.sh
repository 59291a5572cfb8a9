#!/usr/bin/env bash
# Pins the base images to those that their tags name today: asks the registry for the digest of each, and writes it behind the
# tag in docker/Dockerfile and docker/compose.yaml. Run it with Docker and buildx, and a registry that can be reached;
# run it again to move on. With --print it only prints the lines that it would write.
set -euo pipefail
cd "$(dirname "$0")"
FILES=(Dockerfile compose.yaml)

for image in $(sed -nE 's/^(FROM|[[:space:]]+image:) ([a-z0-9./_-]+:[A-Za-z0-9._-]+)(@sha256:[0-9a-f]+)?( .*)?$/\2/p' "${FILES[@]}" | sort -u); do
  digest="$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image")"
  [[ "$digest" =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "No digest for $image: $digest" >&2; exit 1; }
  echo "$image@$digest"
  [[ "${1:-}" == --print ]] || sed -i -E "s#([[:space:]])${image//./\\.}(@sha256:[0-9a-f]+)?([[:space:]]|\$)#\1${image}@${digest}\3#" "${FILES[@]}"
done
