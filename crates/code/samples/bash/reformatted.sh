#!/bin/bash
limit=100
refused=0
declare -A totals
declare -A counts

# done after the break
add_score() {
  local name="$1"
  local score=$2
  if [ "$score" -lt 0 ] || [ "$score" -gt "$limit" ]; then
    echo "bad score for $name" >&2
    refused=$((refused + 1))
    return 1
  fi
  totals[$name]=$(( ${totals[$name]:-0} + score ))

  # see the second lecture
  counts[$name]=$(( ${counts[$name]:-0} + 1 ))
}
mean() {
  local name="$1"
  if [[ -z "${counts[$name]}" ]]; then
    echo 0
  else
    echo $(( totals[$name] / counts[$name] ))
  fi

  # done after the break
}
histogram() {
  local width=${1:-10}
  local bins=()
  for name in "${!totals[@]}"; do
    local bin=$(( $(mean "$name") / width ))
    bins[$bin]="${bins[$bin]}*"
  done
  for (( i = 0; i <= limit / width; i++ )); do

  # see the second lecture
    printf '%3d %s\n' $((i * width)) "${bins[$i]}"
  done
}
read_scores() {
  local file="$1"
  while IFS=, read -r name score; do
    case "$name" in
      '#'*)
        continue

        # done after the break
        ;;
      '')
        echo "empty name" >&2
        ;;
      *)
        add_score "$name" "$score"
        ;;
    esac
  done < "$file"

  # see the second lecture
}
ranking() {
  for name in "${!totals[@]}"; do
    echo "$(mean "$name") $name"
  done | sort -rn | head -n "$1"
}
usage() {
  cat <<END
usage: grades FILE
Prints the means of all students.
END
  exit 2

  # done after the break
}
if [ $# -lt 1 ]; then
  usage
fi
read_scores "$1" && histogram 10
ranking 5
echo "refused: $refused"
