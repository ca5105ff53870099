# The suites that are no pytest folders: what tools find without a running gateway. Sourced by
# tests/run, whose add, count, logs and work they use.

TG_FUZZ_SECONDS=${TOLLGATE_FUZZ_SECONDS:-60}    # for each parser
TG_FUZZ_AT_ONCE=2                               # drivers
TG_FUZZ_ROUNDS=2000000                          # of the replay, where clang has no libFuzzer

# What threads share: the pool and its counters, connections to stores, transfers, the snapshot,
# the body store, the renewal of a deposit.
race_tests=(unit-pool unit-shared unit-kv unit-db unit-route-snapshot unit-http-request
    unit-http-failure unit-fcgi unit-ledger unit-spool unit-money unit-relay-attempt)

suite_lint()
{
    local log=$logs/lint.log since code=0
    since=$(tg_now_ms)
    TOLLGATE_LONG=$long make -C "$work/san" lint >"$log" 2>&1 || code=$?
    add lint "$((code == 0)) 0 0" "$code" "$log" "$since"
}

suite_dist()
{
    local log=$logs/dist.log since code=0
    since=$(tg_now_ms)
    make -C "$work/plain" "dist${long:+check}" >"$log" 2>&1 || code=$?
    add dist "$((code == 0)) 0 0" "$code" "$log" "$since"
}

suite_race()
{
    local log=$logs/race.log since code=0 stamp=$work/race.stamp
    since=$(tg_now_ms)
    touch "$stamp"
    # The addresses of newer kernels are too random for older ThreadSanitizer runtimes.
    TSAN_OPTIONS="halt_on_error=1 exitcode=66" setarch "$(uname -m)" -R \
        make -C "$work/tsan" -j "$(nproc)" -k "${race_tests[@]}" >"$log" 2>&1 || code=$?
    TSAN_OPTIONS="halt_on_error=1 exitcode=66" setarch "$(uname -m)" -R \
        make -C "$work/tsan" -j "$(nproc)" -k check-TESTS TESTS="${race_tests[*]}" \
        >>"$log" 2>&1 || code=$?
    [ "$code" -eq 0 ] || cat "$work/tsan/test-suite.log" >>"$log" 2>/dev/null || true
    add race "$(count automake "$work/tsan" "$stamp")" "$code" "$log" "$since"
}

fuzz_names()
{
    local file
    for file in "$tg_top"/tests/fuzz/*.c; do
        file=$(basename "$file" .c)
        [ "$file" = replay ] || echo "$file"
    done
}

has_libfuzzer()
{
    echo 'int LLVMFuzzerTestOneInput(const char *b, long n) { return (int)n * (b == 0); }' |
        clang -x c -fsanitize=fuzzer -o "$work/has-libfuzzer" - 2>/dev/null
}

# fuzz_one NAME LIBFUZZER: new inputs go to the build tree; a failing one is kept beside the log.
fuzz_one()
{
    local corpus=$work/fuzz/corpus/$1
    if [ -z "$2" ]; then
        TOLLGATE_SOURCE=$tg_top TOLLGATE_FUZZ_ROUNDS=$TG_FUZZ_ROUNDS "$work/san/fuzz-$1"
        return
    fi
    mkdir -p "$corpus"
    TOLLGATE_SOURCE=$tg_top "$work/fuzz/fuzz-$1" -max_total_time="$TG_FUZZ_SECONDS" \
        -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$logs/fuzz-$1-" "$corpus" \
        "$tg_top/tests/fuzz/corpus/$1"
}

# fuzz_kept NAME LIBFUZZER: its output and its exit code are kept with the logs.
fuzz_kept()
{
    local code=0
    rm -f "$logs/fuzz-$1.code"
    fuzz_one "$1" "$2" >"$logs/fuzz-$1.log" 2>&1 || code=$?
    echo "$code" >"$logs/fuzz-$1.code"
}

suite_fuzz()
{
    local log=$logs/fuzz.log since name programs=() started=() good=0 bad=0 libfuzzer=''
    since=$(tg_now_ms)
    : >"$log"
    mapfile -t programs < <(fuzz_names | sed 's/^/fuzz-/')
    if has_libfuzzer; then
        libfuzzer=1
        CC=clang tg_configure "$work/fuzz" "$log" --enable-fuzzer
        tg_run "$log" make -C "$work/fuzz" -j "$(nproc)" "${programs[@]}"
    else
        build san
        tg_run "$log" make -C "$work/san" -j "$(nproc)" "${programs[@]}"
    fi
    for name in $(fuzz_names); do
        if [ "${#started[@]}" -ge "$TG_FUZZ_AT_ONCE" ]; then
            wait "${started[0]}" || true
            started=("${started[@]:1}")
        fi
        fuzz_kept "$name" "$libfuzzer" &
        started+=($!)
    done
    wait "${started[@]}" || true
    for name in $(fuzz_names); do
        if [ "$(cat "$logs/fuzz-$name.code" 2>/dev/null)" = 0 ]; then
            good=$((good + 1))
        else
            bad=$((bad + 1))
            { echo "$name:"; tail -n 40 "$logs/fuzz-$name.log"; } >>"$log"
        fi
    done
    add fuzz "$good $bad 0" 0 "$log" "$since"
}
