#!/usr/bin/env bash
set -euo pipefail
shopt -s nullglob

# Backs up folders with rotation, locks and a trap.
readonly ROOT="${BACKUP_ROOT:-/var/backups}" KEEP=7
trap 'rm -f "$lock"; exit 130' INT TERM

lock=$(mktemp -u "${TMPDIR%/}/backup.XXXX")
exec 9>"$lock"
flock -n 9 || { echo >&2 'already running'; exit 1; }

function log {
  printf '[%s] %s\n' "$(date +%FT%T)" "$*" | tee -a "$ROOT/log.txt"
}

function rotate() {
  local -i number=$KEEP
  until (( number == 0 )); do
    [[ -d $ROOT/daily.$number ]] && mv -- "$ROOT/daily.$number" "$ROOT/daily.$((number+1))"
    (( number-- ))
  done
  rm -rf -- "$ROOT/daily.$((KEEP+1))"
}

pack() (
  cd "$1" || return
  tar --exclude='*.o' -cf - . | gzip -9 | openssl enc -aes-256-cbc -pass file:"$HOME/.key" > "$2"
)

select_folders() {
  find "$ROOT/../data" -mindepth 1 -maxdepth 1 -type d ! -name '.*' -print0 |
    sort -z |
    while read -r -d '' folder; do
      if [[ $folder =~ ^(.*)/(tmp|cache)$ ]]; then
        log "skipped ${BASH_REMATCH[2]}"
      elif test "$(du -s "$folder" | cut -f1)" -gt 1048576; then
        log "too large: ${folder##*/}" >&2
      else
        pack "$folder" "$ROOT/daily.0/${folder//\//_}.tar.gz.enc" &
      fi
    done
  wait
}

rotate
mkdir -p "$ROOT"/daily.{0,1}
select_folders
awk -F: '$3 >= 1000 { print $1 }' /etc/passwd | xargs -I{} mail -s "backup done" {} <<< "total: $(du -sh "$ROOT")"
unset lock
