# Steps with their time, failures with the tail of a log. Sourced by conf/quickstart and tests/run.

if [ -t 1 ]; then
    tg_bold=$'\e[1m' tg_red=$'\e[31m' tg_green=$'\e[32m' tg_dim=$'\e[2m' tg_off=$'\e[0m'
else
    tg_bold='' tg_red='' tg_green='' tg_dim='' tg_off=''
fi

tg_step_name=''
tg_step_log=''
tg_step_start=0

tg_now_ms() { local now=${EPOCHREALTIME/[.,]/}; echo $((now / 1000)); }

# tg_seconds MS: "0.4 s"
tg_seconds() { printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# tg_begin NAME [LOG]: a step starts; LOG is what a failure of it shows the end of.
tg_begin()
{
    tg_step_name=$1
    tg_step_log=${2:-}
    tg_step_start=$(tg_now_ms)
    printf '  %-46s' "$1"
}

# tg_done [NOTE]: the step that was begun has succeeded.
tg_done()
{
    local took=$(($(tg_now_ms) - tg_step_start))
    printf '%sok%s %8s' "$tg_green" "$tg_off" "$(tg_seconds "$took")"
    printf '%s\n' "${1:+   $tg_dim$1$tg_off}"
    tg_step_name=''
}

# tg_fail TEXT: the step has failed; ends the program.
tg_fail()
{
    [ -n "$tg_step_name" ] && printf '%sfailed%s\n' "$tg_red" "$tg_off"
    printf '\n%s%s%s\n' "$tg_red" "$1" "$tg_off" >&2
    if [ -n "$tg_step_log" ] && [ -s "$tg_step_log" ]; then
        printf '\nThe end of %s:\n' "$tg_step_log" >&2
        tail -n 25 "$tg_step_log" | sed 's/^/  | /' >&2
    fi
    exit 1
}

# tg_run LOG COMMAND...: runs with its output in LOG; fails the step when the command fails.
tg_run()
{
    tg_step_log=$1
    shift
    "$@" >>"$tg_step_log" 2>&1 || tg_fail "This failed: $*"
}

# tg_wait WHAT SECONDS COMMAND...: waits until COMMAND succeeds.
tg_wait()
{
    local what=$1 deadline=$(($(tg_now_ms) + $2 * 1000))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$(tg_now_ms)" -lt "$deadline" ] || tg_fail "$what did not happen in time."
        sleep 0.05
    done
}
