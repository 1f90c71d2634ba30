#!/bin/bash
# Fetches URLs through `trawl pipe`, with bash and base64 alone.
#
#   pipe_client.sh URL...                   TRAWL=path/to/trawl where it is not on PATH
#
# For each URL, as the responses come: status (or error code), length of the body, number of the URL among the arguments.
# It ends with 1 when one of them had no response.
# A program that does more than this with JSON wants jq or a language that can read it.
set -euo pipefail

# A string as JSON: what URLs may not hold anyway is left out, what they may is escaped.
quoted() {
    local text=${1//[$'\001'-$'\037']/}
    text=${text//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

requests() {
    local number=0
    for url in "$@"; do
        number=$((number + 1))
        printf '{"id":%d,"url":%s}\n' "$number" "$(quoted "$url")"
    done
}

answers=0
failed=0
# Lines are one object each, the id is their first member and the body their last. A quotation mark within a value comes
# with a backslash before it, so a pattern that holds bare ones finds members and nothing else.
while IFS= read -r line; do
    answers=$((answers + 1))
    id=${line#'{"id":'}
    id=${id%%,*}
    body=${line#*'"body_base64":"'}
    body=${body%'"}'}
    if [[ $line == *',"error":null'* ]]; then
        result=${line#*',"status":'}
        result=${result%%,*}
    else
        result=${line#*',"error":{"code":"'}
        result=${result%%'"'*}
        failed=1
    fi
    printf '%s %d %s\n' "$result" "$(printf '%s' "$body" | base64 -d | wc -c)" "$id"
done < <(requests "$@" | "${TRAWL:-trawl}" pipe)
# How trawl ends is not seen here: what it has not answered has failed, be it that it did not run at all.
[ "$answers" -eq $# ] || failed=1
exit "$failed"
