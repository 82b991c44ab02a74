#!/bin/bash
# Grade book: reads scores, prints a report.

limit=100
refused=0
declare -A totals
declare -A counts
# Adds a score, unless it cannot be one.
add_score() {
    local name="$1"
    local score=$2
    if [ "$score" -lt 0 ] || [ "$score" -gt "$limit" ]; then
        echo "bad score for $name" >&2
        refused=$((refused + 1))
        return 1
    totals[$name]=$(( ${totals[$name]:-0} + score ))
    counts[$name]=$(( ${counts[$name]:-0} + 1 ))
}
mean() {
    local name="$1"
    if [[ -z "${counts[$name]}" ]]; then
        echo 0
    else
        echo $(( totals[$name] / counts[$name] ))
    fi
}
# One star for each student.
histogram() {
    local width=${1:-10}
    local bins=()
    for name in "${!totals[@]}; do
        local bin=$(( $(mean "$name") / width ))
        bins[$bin]="${bins[$bin]}*"
    done
    for (( i = 0; i <= limit / width; i++ )); do
        printf '%3d %s\n' $((i * width)) "${bins[$i]}"
    done
}
read_scores() {
    local file="$1"
    while IFS=, read -r name score; do
        case "$name" in
            '#'*)
                continue
                ;;
            '')
                echo "empty name" >&2
                ;;
            *)
                add_score "$name" "$score"
                ;;
        esac
    done < "$file"
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
   