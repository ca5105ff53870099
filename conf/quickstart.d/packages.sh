# Debian packages, installed only when missing and without starting a service. Needs common.sh.

TG_BUILD_PACKAGES=(autoconf automake make gcc libc6-dev pkg-config
    libfcgi-dev libcurl4-openssl-dev libmariadb-dev libhiredis-dev libjson-c-dev libconfig-dev
    libsodium-dev libgmp-dev libpcre2-dev zlib1g-dev libzstd-dev libjwt-dev
    libjs-bootstrap5 libjs-chart.js)
# The -core and -bin packages hold programs only; the others bring a unit along.
TG_STORE_PACKAGES=(mariadb-server-core mariadb-client-core redis-server)
TG_SERVER_PACKAGES_apache=(apache2-bin)
TG_SERVER_PACKAGES_caddy=(caddy)
TG_SERVER_PACKAGES_nginx=(nginx-light)
TG_SERVER_PACKAGES_lighttpd=(lighttpd)

# tg_missing PACKAGE...: those that are not installed, one a line
tg_missing()
{
    local package
    for package; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            echo "$package"
    done
}

# tg_have PACKAGE...: installs what is missing; its note is in tg_installed afterwards.
tg_have()
{
    tg_installed='nothing was missing'
    local missing
    if ! command -v dpkg-query >/dev/null; then
        tg_installed='not Debian: not checked'
        return 0
    fi
    mapfile -t missing < <(tg_missing "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            tg_fail "Please run as root (apt-get install, starts no service):
bash $tg_parts/install.sh ${missing[*]}"
        as_root=(sudo)
    fi
    tg_run "$tg_step_log" "${as_root[@]}" bash "$tg_parts/install.sh" "${missing[@]}"
    tg_installed="${#missing[@]} packages installed"
}

# tg_program NAME: its path, also where ordinary users have no PATH to
tg_program()
{
    PATH=$PATH:/usr/sbin:/sbin command -v "$1" || tg_fail "$1 is not installed."
}
