# Private MariaDB, Redis and web server in one folder, started and stopped by pid. Needs common.sh.
# $tg_directory: the run directory; $tg_sockets: a short path for sockets.

# tg_start NAME COMMAND...: in the background, in a session of its own, log in NAME.log
tg_start()
{
    local name=$1
    shift
    tg_step_log=$tg_directory/$name.log
    setsid "$@" >>"$tg_step_log" 2>&1 </dev/null &
    local pid=$!
    echo "$pid $(tg_birth "$pid")" >"$tg_directory/pids/$name"
    tg_started=$pid
}

# tg_birth PID: when a process began (clock ticks since boot), so that a pid used again is not ours
tg_birth() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

tg_runs()
{
    local pid birth
    [ -e "$tg_directory/pids/$1" ] || return 1
    read -r pid birth <"$tg_directory/pids/$1"
    [ -n "$birth" ] && [ "$(tg_birth "$pid")" = "$birth" ] &&
        ! grep -qs '^State:.Z' "/proc/$pid/status"
}

tg_ended() { ! tg_runs "$1"; }

# tg_wait_up WHAT SECONDS COMMAND...: as tg_wait; fails at once when what was started last has ended
tg_wait_up()
{
    tg_wait "$1" "$2" tg_up_or_ended "${@:3}"
    kill -0 "$tg_started" 2>/dev/null || tg_fail "$1 ended at once."
}

tg_up_or_ended() { ! kill -0 "$tg_started" 2>/dev/null || "$@"; }

tg_stop()
{
    local pid birth
    tg_runs "$1" || { rm -f "$tg_directory/pids/$1"; return 0; }
    read -r pid birth <"$tg_directory/pids/$1"
    kill "$pid" 2>/dev/null || true
    local deadline=$(($(tg_now_ms) + 20000))
    while tg_runs "$1" && [ "$(tg_now_ms)" -lt "$deadline" ]; do sleep 0.05; done
    if tg_runs "$1"; then kill -9 "$pid" 2>/dev/null || true; fi
    rm -f "$tg_directory/pids/$1"
}

# The order in which nothing loses what it needs: from the door to the stores.
tg_stop_all()
{
    local name
    for name in apache caddy nginx lighttpd tollgate-{console,fcgi,ledger} simulator redis \
        mariadb; do
        tg_stop "$name"
    done
    if [ -e "$tg_directory/sockets" ]; then
        rm -rf "$(cat "$tg_directory/sockets")"
        rm -f "$tg_directory/sockets"
    fi
}

tg_free_port()
{
    python3 - <<'PYTHON'
import socket

with socket.socket() as sock:
    sock.bind(("127.0.0.1", 0))
    print(sock.getsockname()[1])
PYTHON
}

tg_listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

tg_sql() { mariadb --no-defaults --socket="$tg_sockets/mariadb" --user=root -N -B -e "$1"; }

tg_start_mariadb()
{
    local data=$tg_directory/mariadb as=()
    # A starting server removes what it takes for left-over temporary tables, in /tmp those of every
    # other MariaDB on this machine: this one gets a folder of its own.
    local -x TMPDIR=$tg_directory/mariadb.tmp
    mkdir -p "$TMPDIR"
    [ "$(id -u)" -ne 0 ] || as=(--user=root)
    tg_run "$tg_directory/mariadb.log" mariadb-install-db --no-defaults --datadir="$data" \
        --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve "${as[@]}"
    tg_start mariadb "$(tg_program mariadbd)" --no-defaults --datadir="$data" \
        --socket="$tg_sockets/mariadb" --pid-file="$tg_directory/mariadb.pid" --skip-networking \
        --skip-name-resolve --innodb-buffer-pool-size=64M --innodb-log-file-size=32M "${as[@]}"
    tg_wait_up 'MariaDB' 60 tg_sql 'SELECT 1'
    # No password: the socket lies in a folder that only this account can enter.
    tg_run "$tg_directory/mariadb.log" tg_sql \
        "CREATE USER tollgate@localhost; GRANT ALL ON \`tollgate%\`.* TO tollgate@localhost"
}

tg_start_redis()
{
    mkdir -p "$tg_directory/redis"
    tg_start redis "$(tg_program redis-server)" --port 0 --unixsocket "$tg_sockets/redis" \
        --unixsocketperm 700 --dir "$tg_directory/redis" --save '' --appendonly yes \
        --maxmemory 256mb --maxmemory-policy volatile-lru
    tg_wait_up 'Redis' 20 redis-cli -s "$tg_sockets/redis" ping
}

# Workers that leave root for www-data need its name in their file.
tg_fill_nginx()
{
    local user=''
    [ "$(id -u)" -ne 0 ] || user='user www-data;'
    sed -e "s|@PORT@|$2|" -e "s|@SOCKET@|$3|" -e "s|@TOP@|$tg_top|" -e "s|@USER@|$user|" \
        -e "s|@CONSOLE@|$tg_console_socket|" -e "s|@CGI@|none|" -e "s|@CONF@|$TOLLGATE_CONF|" \
        "$tg_parts/nginx.conf" >"$1"
}

# tg_start_web apache|caddy|nginx|lighttpd PORT SOCKET; the console listens on $tg_console_socket
tg_start_web()
{
    local web=$tg_sockets/web as_root=()
    local -x TOLLGATE_CONSOLE=$tg_console_socket
    mkdir -p "$web/htdocs"
    case $1 in
    apache)
        [ "$(id -u)" -ne 0 ] || as_root=(-D ROOT)
        tg_start apache env TG_WEB="$web" TG_PORT="$2" TG_SOCKET="$3" TG_TOP="$tg_top" \
            TG_CONSOLE="$tg_console_socket" \
            "$(tg_program apache2)" -f "$tg_parts/apache.conf" "${as_root[@]}" -D CONSOLE \
            -D FOREGROUND
        ;;
    caddy)
        tg_start caddy env TOLLGATE_SITE="http://127.0.0.1:$2" TOLLGATE_SOCKET="$3" \
            TOLLGATE_CADDY_ADMIN=off HOME="$web" XDG_CONFIG_HOME="$web" XDG_DATA_HOME="$web" \
            "$(tg_program caddy)" run --config "$tg_top/httpd-examples/caddy/Caddyfile" \
            --adapter caddyfile
        ;;
    nginx)
        tg_fill_nginx "$web/nginx.conf" "$2" "$3"
        tg_start nginx "$(tg_program nginx)" -p "$web" -c "$web/nginx.conf" -e stderr
        ;;
    lighttpd)
        tg_start lighttpd env TG_WEB="$web" TG_PORT="$2" TG_TOP="$tg_top" TOLLGATE_SOCKET="$3" \
            "$(tg_program lighttpd)" -D -f "$tg_parts/lighttpd.conf"
        ;;
    esac
    tg_wait_up "$1" 20 tg_listens "$2"
}
