#!/bin/sh
# What tollgatectl does without any store: help, exit codes, conf and secrets.
set -u
program=$PWD/admin-cgi/tollgatectl
folder=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-ctl.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
export TOLLGATE_DATADIR="$TOLLGATE_SOURCE"
unset TOLLGATE_CONF TOLLGATE_PASSWORD TOLLGATE_CHANNEL_KEY
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect CODE ARGUMENT...: runs it; its output is in $folder/out and $folder/err
expect() {
    wanted=$1
    shift
    "$program" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    [ "$got" = "$wanted" ] || {
        fail "exit $got instead of $wanted: $*"
        cat "$folder/err"
    }
}

says() { # says out|err TEXT
    grep -qF -e "$2" "$folder/$1" || fail "standard $1 does not say: $2"
}

# --- help
expect 0 --version
says out tollgatectl
expect 0 --help
sed -n 's/^  \([a-z].*\)$/\1/p' "$folder/out" >"$folder/commands"
[ "$(wc -l <"$folder/commands")" -ge 20 ] || fail "--help shows too few commands"
while read -r usage; do
    words=$(printf '%s\n' "$usage" | sed -e 's/ *[A-Z[].*//' -e 's/ *--.*//')
    # shellcheck disable=SC2086 # a command may be two words
    expect 0 $words --help
    says out "usage: tollgatectl $usage"
done <"$folder/commands"

# --- init: all three files, closed to others, never overwritten
site=$folder/site
expect 0 init --directory "$site" --main "mysql://me@localhost/none?socket=$folder/no.sock" \
    --redis "unix:$folder/no.redis"
for file in tollgate.conf tollgate.secrets console.secrets; do
    mode=$(stat -c %a "$site/$file") || fail "$file is missing"
    case $mode in *0) ;; *) fail "$file has the mode $mode" ;; esac
done
cat "$site"/* >"$folder/before"
expect 0 init --directory "$site" --redis unix:/other
cat "$site"/* | cmp -s - "$folder/before" || fail "init has changed what was there"
says err "exists and is kept"
expect 2 init --directory "$folder/bad" --main mysql://me:secret@localhost/x
grep -q secret "$folder/err" && fail "a password is repeated"
expect 1 init --directory "$folder/bad2" --listen nowhere
[ -e "$folder/bad2/tollgate.conf" ] && fail "a conf that cannot be loaded is left behind"

# --- conf
conf=$site/tollgate.conf
expect 0 --conf "$conf" config check
expect 0 --conf "$conf" --json config check
says out '"ok":true'
expect 1 --conf "$folder/none.conf" config check
printf '# one\npool: { workres = 3; };\n' >"$folder/typo.conf"
expect 1 --conf "$folder/typo.conf" --json config check
says out "typo.conf:2"
says out '"class":"config"'
expect 0 --conf "$conf" config show
grep -qE '^redis.address +unix:.*/no.redis +file$' "$folder/out" || fail "config show: the file"
grep -qE '^retry.attempts +4 +default$' "$folder/out" || fail "config show: a default"
says err "settings of the database are left out"
TOLLGATE_RETRY_ATTEMPTS=7 "$program" --conf "$conf" config show 2>/dev/null |
    grep -qE '^retry.attempts +7 +environment$' || fail "config show: the environment"

# --- wrong usage
export TOLLGATE_CONF="$conf"
for words in "" nonsense user "user add" "user add a b" "user add a --colour blue" \
    "user add a --group" "price set m --input abc" "credit a" "credit a abc" "token create" \
    "token create --user a --limit 1 --unlimited" "token create --user a --expires soon" \
    "token create --user a --allow 10.0.0.0/99" "token revoke x" "channel add c" \
    "channel add c --base-url http://h --models m --weight x" "group set g" "migrate now" \
    "user add a --role root" "--conf"; do
    # shellcheck disable=SC2086
    expect 2 $words
    [ -s "$folder/err" ] || fail "nothing is said about: $words"
done
unset TOLLGATE_CONF

# --- secrets: to another node and back
expect 0 --conf "$conf" secrets fingerprint
cp "$folder/out" "$folder/fingerprint"
expect 0 --conf "$conf" secrets export
cp "$folder/out" "$folder/exported"
grep -qF "$(sed 's/.* //' "$folder/fingerprint")" "$folder/exported" && fail "export shows more"
other=$folder/other
mkdir "$other"
sed "s#$site#$other#" "$conf" >"$other/tollgate.conf"
expect 2 --conf "$other/tollgate.conf" secrets import
"$program" --conf "$other/tollgate.conf" secrets import <"$folder/exported" >/dev/null ||
    fail "secrets import"
for file in tollgate.secrets console.secrets; do
    cmp -s "$site/$file" "$other/$file" || fail "$file is not the same"
    [ "$(stat -c %a "$other/$file")" = 640 ] || fail "$file: mode"
done
expect 0 --conf "$other/tollgate.conf" secrets fingerprint
cmp -s "$folder/out" "$folder/fingerprint" || fail "the fingerprints differ"
"$program" --conf "$conf" secrets import <"$folder/exported" >/dev/null 2>&1 &&
    fail "import has overwritten secrets"
rm "$other"/*.secrets
sed 's/^token_pepper.*/token_pepper = 00/' "$folder/exported" |
    "$program" --conf "$other/tollgate.conf" secrets import >/dev/null 2>&1 &&
    fail "bad secrets are taken"
[ -e "$other/tollgate.secrets" ] && fail "bad secrets are left behind"
expect 0 --conf "$other/tollgate.conf" secrets init
expect 1 --conf "$other/tollgate.conf" secrets init

# --- secrets of others: ways in, and what is refused
printf 'topsecret\n' >"$folder/open"
chmod 644 "$folder/open"
expect 1 --conf "$conf" create-admin a --password-file "$folder/open"
expect 2 --conf "$conf" create-admin a --password-stdin
expect 2 --conf "$conf" create-admin a
expect 2 --conf "$conf" create-admin a --password topsecret
grep -q topsecret "$folder/err" && fail "a password is repeated"

# --- stores that are away
TOLLGATE_PASSWORD=x expect 3 --conf "$conf" create-admin a
expect 3 --conf "$conf" --json show user a
says out '"code":"db_down"'
expect 3 --conf "$conf" migrate
expect 3 --conf "$conf" credit a -0.5

[ "$failures" = 0 ]
