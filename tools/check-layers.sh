#!/bin/sh
# Prints each #include that crosses a border layers.txt does not open; silence and 0 if none does.
# usage: check-layers.sh [SRC-FOLDER]
table=$(realpath "$(dirname "$0")/layers.txt")
cd "${1:-$(dirname "$0")/../src}" || exit 2

grep -rEHn --include='*.[ch]' --include='*.def' '^[[:space:]]*#[[:space:]]*include' . | awk '
    # The listed folder a path lies in: the longest that matches.
    function folder(path) {
        while (path != "" && !(path in opens))
            if (!sub(/\/[^\/]*$/, "", path)) path = ""
        return path
    }
    NR == FNR && NF && $1 !~ /^#/ {
        name = $1; $1 = ""
        opens[name] = $0 " "
    }
    NR == FNR { next }
    {
        split($0, at, ":")
        path = substr(at[1], 3)
        from = folder(path)
        if (match($0, /<[^>]*>/)) {
            header = substr($0, RSTART, RLENGTH)
            allowed = !(header in opens) || index(opens[header], " " from " ")
        } else {
            split($0, quoted, "\"")
            header = quoted[2]
            to = folder(header)
            allowed = from != "" && to != "" &&
                (from == to || index(opens[from], " " to " ") || index(opens[from], " * "))
        }
        if (!allowed) {
            print path ":" at[2] ": " (from == "" ? "a folder without a layer" : from) \
                " may not include " header
            crossed = 1
        }
    }
    END { exit crossed }' "$table" -
