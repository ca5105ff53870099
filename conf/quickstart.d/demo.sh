# The demo: an account, a channel, one request, and whether the books are right. Needs servers.sh.

tg_ctl() { "$tg_directory/tollgatectl" "$@"; }

# tg_field NAME: a field of the JSON object on standard input
tg_field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# A tollgatectl that needs no options, for the person who tries things out afterwards.
tg_write_ctl()
{
    {
        echo '#!/usr/bin/env bash'
        for name in CONF DATADIR LISTEN_MODE NODE_RUN_DIR LEDGER_SPOOL_DIR NET_CHANNEL_ALLOW; do
            name=TOLLGATE_$name
            printf 'export %s=%q\n' "$name" "${!name}"
        done
        printf 'exec %q "$@"\n' "$tg_build_directory/admin-cgi/tollgatectl"
    } >"$tg_directory/tollgatectl"
    chmod +x "$tg_directory/tollgatectl"
}

tg_init()
{
    local log=$tg_directory/init.log
    local database="mysql://tollgate@localhost/%s?socket=$tg_sockets/mariadb"
    # shellcheck disable=SC2059
    tg_run "$log" tg_ctl init --directory "$tg_directory" \
        --main "$(printf "$database" tollgate)" --log "$(printf "$database" tollgate_log)" \
        --redis "unix:$tg_sockets/redis" --listen "unix:$tg_fcgi_socket"
    tg_run "$log" tg_ctl migrate
    tg_run "$log" tg_ctl price import --shipped --missing-only
}

# The admin's password is made here and shown once; the token likewise.
tg_make_account()
{
    local log=$tg_directory/account.log
    tg_admin_password=$(python3 -c 'import secrets; print(secrets.token_urlsafe(12))')
    TOLLGATE_PASSWORD=$tg_admin_password tg_run "$log" tg_ctl create-admin admin
    tg_run "$log" tg_ctl user add demo --credit 10
    tg_run "$log" tg_ctl price set "$tg_model" --input "$tg_price_input" --output "$tg_price_output"
    tg_token=$(tg_ctl --json token create --user demo --name quickstart 2>>"$log" |
        tg_field token) || tg_fail 'No token was made.'
}

# tg_make_channel URL KEY
tg_make_channel()
{
    TOLLGATE_CHANNEL_KEY=$2 tg_run "$tg_directory/channel.log" tg_ctl channel add demo \
        --base-url "$1" --models "$tg_model"
}

tg_start_simulator()
{
    tg_start simulator python3 "$tg_top/tests/simulator" --key "$1" \
        --port-file "$tg_directory/simulator.port"
    tg_wait_up 'the simulator' 20 test -s "$tg_directory/simulator.port"
}

tg_question()
{
    printf '{"model":"%s","messages":[{"role":"user","content":"%s"}]}' \
        "$tg_model" 'Say hello to Tollgate, please.'
}

tg_answer_text()
{
    python3 - "$tg_directory/answer.json" <<'PYTHON'
import json, sys

print(json.load(open(sys.argv[1]))["choices"][0]["message"]["content"])
PYTHON
}

# tg_request: the answer in answer.json; its headers in answer.head
tg_request()
{
    local status
    tg_step_log=$tg_directory/tollgate-fcgi.log
    status=$(printf 'header = "Authorization: Bearer %s"\n' "$tg_token" |
        curl -sS --config - -o "$tg_directory/answer.json" -D "$tg_directory/answer.head" \
            -w '%{http_code}' -H 'Content-Type: application/json' -d "$(tg_question)" \
            "http://127.0.0.1:$tg_port/v1/chat/completions") ||
        tg_fail 'The web server did not answer.'
    [ "$status" = 200 ] ||
        tg_fail "The answer was $status: $(head -c 600 "$tg_directory/answer.json")"
}

# tg_check_console: the admin can log in with the password that is shown at the end
tg_check_console()
{
    local base=http://127.0.0.1:$tg_port status
    tg_step_log=$tg_directory/tollgate-console.log
    status=$(printf '{"username":"admin","password":"%s"}' "$tg_admin_password" |
        curl -sS -o "$tg_directory/console.json" -w '%{http_code}' -H "Origin: $base" \
            -H 'Content-Type: application/json' --data-binary @- "$base/api/login") ||
        tg_fail 'The web server did not answer.'
    [ "$status" = 200 ] ||
        tg_fail "The console's answer was $status: $(head -c 600 "$tg_directory/console.json")"
}

# tg_bill: what the answer's usage costs by hand, in quota (500,000 per USD), rounded half-up
tg_bill()
{
    python3 - "$tg_directory/answer.json" "$tg_price_input" "$tg_price_output" <<'PYTHON'
import json, sys
from fractions import Fraction
from math import floor

usage = json.load(open(sys.argv[1]))["usage"]
tokens = (usage["prompt_tokens"], usage["completion_tokens"])
exact = sum(count * Fraction(price) for count, price in zip(tokens, sys.argv[2:])) / 2
print(floor(exact + Fraction(1, 2)))
PYTHON
}

tg_balance() { tg_ctl --json show user demo 2>>"$tg_directory/account.log" | tg_field quota; }

tg_settled() { [ "$(tg_balance)" = "$1" ]; }

# tg_check_books: the balance is the credit less the bill, and every pair of sums agrees
tg_check_books()
{
    tg_step_log=$tg_directory/tollgate-ledger.log
    tg_cost=$(tg_bill) || tg_fail 'The answer names no usage.'
    tg_left=$((5000000 - tg_cost))
    tg_wait "A balance of $tg_left (10 USD less a bill of $tg_cost quota)" 15 tg_settled "$tg_left"
    tg_run "$tg_directory/audit.log" tg_ctl audit
}

# tg_usd QUOTA
tg_usd() { python3 -c 'import sys; print(f"{int(sys.argv[1]) / 500000:.6f}")' "$1"; }
