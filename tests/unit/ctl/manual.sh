#!/bin/sh
# The manual page has every command line of the program, and no other.
set -u
program=./admin-cgi/tollgatectl
page=$TOLLGATE_SOURCE/admin-cgi/tollgatectl.1
status=0

# The lines that people read: "\-" is a dash, and commands are the tags in bold.
lines=$(sed -e 's/\\-/-/g' "$page" | sed -n 's/^\.B \([a-z].*\)$/\1/p')
commands=$("$program" --help | sed -n 's/^  \([a-z].*\)$/\1/p')

[ -n "$commands" ] || { echo "the program shows no commands"; exit 1; }

IFS='
'
for command in $commands; do
    printf '%s\n' "$lines" | grep -qxF -e "$command" || {
        echo "not in the manual page: $command"
        status=1
    }
done
# Words in bold inside the text are no command lines; those that start like one must be one.
for line in $lines; do
    first=${line%% *}
    printf '%s\n' "$commands" | cut -d' ' -f1 | grep -qxF -e "$first" || continue
    case $line in *' '*) ;; *) [ "$first" = migrate ] || continue ;; esac
    printf '%s\n' "$commands" | grep -qxF -e "$line" ||
        printf '%s\n' "$commands" | grep -qF -e "$line" || {
        echo "the program does not know: $line"
        status=1
    }
done
exit $status
