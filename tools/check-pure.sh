#!/bin/sh
# Prints what keeps libraries from being pure: a symbol wanted from outside that pure-symbols.txt
# does not list, or an object file with variables. Wants a plain build: no LTO, no sanitizers.
# usage: check-pure.sh ARCHIVE...
list=$(dirname "$0")/pure-symbols.txt
[ $# -gt 0 ] && [ -r "$list" ] || exit 2

# nm: `U name` is wanted, `address T name` is defined here.
wants=$(nm "$@") || exit 2
leaks=$(echo "$wants" | awk '
    NR == FNR { if ($1 !~ /^#/ && NF) { if (sub(/\*$/, "")) start[$1]; else pure[$1] } next }
    NF == 2 && $1 == "U" { wanted[$2] }
    NF == 3 { defined[$3] }
    END {
        for (name in wanted) {
            known = name in pure || name in defined
            for (s in start) known = known || index(name, s) == 1
            if (!known) print "wants " name
        }
    }' "$list" - | sort)

# Constant tables with pointers live in .data.rel.ro; all other data could change.
sizes=$(size -A "$@") || exit 2
variables=$(echo "$sizes" | awk '
    / *\(ex / || / *:$/ { object = $1 }
    $1 ~ /^\.(t?data|t?bss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 {
        print object " has variables: " $2 " bytes of " $1
    }')

[ -z "$leaks$variables" ] && exit 0
[ -n "$leaks" ] && echo "$leaks"
[ -n "$variables" ] && echo "$variables"
exit 1
